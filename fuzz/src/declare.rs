//! The laws of outlines and names: any text, in every kind of file.

use stan_lang::typescript::declare::{declare, outline, text_of};
use stan_model::names::{FileNames, Meaning, Recipe, RecipeId, Used};
use stan_model::outline::{Outline, Span, elided};

use crate::room::with_room;

const NAMES: [&str; 8] = ["a.ts", "a.tsx", "a.js", "a.d.ts", "a.jsx", "a.mts", "a.cjs", "a.d.mts"];
const COMPONENTS: [&str; 3] = ["a.vue", "a.svelte", "a.astro"];

/// The first byte selects the kind of file.
pub fn law(bytes: &[u8]) {
    let Some((&kind, contents)) = bytes.split_first() else { return };
    let names: &[&str] = if kind < 128 { &NAMES } else { &COMPONENTS };
    let name = names[usize::from(kind) % names.len()];
    let Some(text) = text_of(contents) else { return };
    with_room(|| {
        let units = declare(name, &text);
        assert_eq!(units.outline, outline(name, &text), "the outline does not depend on names");
        check_outline(&text, &units.outline);
        check_names(&text, &units.names, units.outline.units.len());
    });
}

/// Spans are in the file, at character boundaries, nested, in order.
pub(crate) fn check_outline(text: &str, outline: &Outline) {
    let length = text.len() as u32;
    let is_sound = |span: Span| span.start <= span.end && span.end <= length && text.get(span.range()).is_some();
    let mut last = 0;
    for (unit, index) in outline.units.iter().zip(0_u32..) {
        assert!(is_sound(unit.span) && unit.span.encloses(unit.head), "{unit:?}");
        assert!(unit.span.start >= last, "units are in order");
        last = unit.span.start;
        assert!(unit.until > index && unit.until as usize <= outline.units.len());
        assert!(unit.lines.from >= 1 && unit.lines.from <= unit.lines.to);
        assert!(
            unit.doc.is_none_or(|doc| is_sound(doc) && (doc.end <= unit.span.start || unit.span.encloses(doc))),
            "{unit:?}"
        );
        if let Some(parent) = unit.parent {
            assert!(parent.0 < index, "a unit comes before its members");
            let parent = outline.get(parent).expect("parents exist");
            assert!(parent.span.encloses(unit.span) && unit.until <= parent.until, "{parent:?} {unit:?}");
        }
        let mut at = unit.span.start;
        for body in &unit.bodies {
            assert!(is_sound(*body) && body.start >= at && body.end <= unit.span.end, "{unit:?}");
            at = body.end;
        }
        assert!(unit.names.iter().all(|name| is_sound(name.span) && name.line >= 1));
        assert!(elided(text, unit.span, &unit.bodies).len() <= text.len() + 7 * unit.bodies.len());
    }
}

/// Every index is in bounds, uses are in order, and no list is longer than the text allows.
pub(crate) fn check_names(text: &str, names: &FileNames, units: usize) {
    let most = 16 * text.len() + 64;
    assert!(names.recipes.len() <= most && names.declarations.len() <= most && names.uses.len() <= most);
    assert!(names.shapes.len() <= most && names.signatures.len() <= most && names.symbols.len() <= most);
    let recipe = |id: RecipeId| assert!((id.0 as usize) < names.recipes.len());
    for declaration in &names.declarations {
        assert!(declaration.unit.is_none_or(|unit| (unit.0 as usize) < units));
        assert!(declaration.span.end as usize <= text.len());
        match declaration.meaning {
            Meaning::Shape(shape) => assert!(names.shape(shape).is_some()),
            Meaning::Alias(id) | Meaning::TypeParameter(id) => recipe(id),
            Meaning::Value { ty, signature } => {
                recipe(ty);
                assert!(signature.is_none_or(|id| names.signature(id).is_some()));
            }
            Meaning::Import(import) => assert!(names.import(import).is_some()),
            Meaning::Same(symbol) => assert!(names.symbol(symbol).is_some()),
        }
    }
    for (known, id) in names.recipes.iter().zip(0..) {
        // A recipe only refers to earlier ones, so evaluating it always terminates.
        let earlier = |part: &RecipeId| assert!(part.0 < id, "{known:?}");
        match known {
            Recipe::Member(base, _)
            | Recipe::TypeMember { base, .. }
            | Recipe::Element(base)
            | Recipe::List(base)
            | Recipe::Promise(base)
            | Recipe::Call(base)
            | Recipe::New(base)
            | Recipe::Await(base)
            | Recipe::Argument(base, _)
            | Recipe::Parameter(base, _)
            | Recipe::Props(base) => earlier(base),
            Recipe::Any(parts) => parts.iter().for_each(earlier),
            _ => {}
        }
    }
    assert!(names.shapes.iter().all(|shape| shape.members.is_sorted_by(|one, other| one.name <= other.name)));
    assert!(names.exports.is_sorted_by(|one, other| one.0 < other.0), "exports are sorted and unique");
    assert!(names.uses.is_sorted_by_key(|one| one.at) && names.uses.iter().all(|one| (one.at as usize) < text.len()));
    for one in &names.uses {
        match &one.what {
            Used::Name(symbol) => assert!(names.symbol(*symbol).is_some()),
            Used::Member(base, _) => recipe(*base),
            Used::Global(_) => {}
        }
    }
}
