//! One declaration of each kind: its checks, in the toolchain's order, and its canonical fields.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use stan_model::json::{JsonKind, JsonTree, NodeId};
use stan_model::module::{Declaration, Field, FieldRole, Piece};

use super::expression::check_expression;
use super::names::{check_local_name, check_symbol, check_type_name};
use super::source_position::{SourcePosition, X07Error};
use super::types::{check_type, is_bytes_like, is_foreign};

// Indices in `SCHEMA_VERSIONS` of the versions that introduced a feature.
const CONTRACTS_SINCE: usize = 2;
const DECREASES_SINCE: usize = 5;
const RECORDS_SINCE: usize = 6;

/// The context that the checks of a declaration depend on.
pub(super) struct DeclarationReader<'r, 'a> {
    pub(super) tree: &'r JsonTree<'a>,
    /// Index in `SCHEMA_VERSIONS`.
    pub(super) version: usize,
    pub(super) module_id: &'r str,
}

/// A required string field.
pub(super) fn required_string<'a>(
    tree: &JsonTree<'a>,
    object: NodeId,
    place: &SourcePosition<'_>,
    key: &str,
) -> Result<Cow<'a, str>, X07Error> {
    let value = tree.field(object, key).ok_or_else(|| place.error(format!("missing required field: {key}")))?;
    tree.string(value).ok_or_else(|| place.key(key).error(format!("{key} must be a string")))
}

impl<'a> DeclarationReader<'_, 'a> {
    /// `defn` and `defasync`.
    pub(super) fn function(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        is_async: bool,
    ) -> Result<Declaration<'a>, X07Error> {
        let kind = if is_async { "defasync" } else { "defn" };
        let name = self.symbol_in_module(item, place, kind)?;
        let mut fields = vec![text_field("kind", kind), Field::plain("name", Piece::Text(name.clone()))];
        let mut labels = Vec::new();
        self.type_params(item, place, &mut fields, &mut labels)?;
        self.refuse_fields_of_other_versions(item, place, is_async)?;
        for key in ["requires", "ensures", "invariant"] {
            self.contract_field(item, place, key, FieldRole::Clause, &mut fields)?;
        }
        self.contract_field(item, place, "decreases", FieldRole::Contract, &mut fields)?;
        self.protocol(item, place, &mut fields)?;
        self.loop_contracts(item, place, &mut fields)?;
        if fields.iter().any(|field| field.role.is_contract()) {
            labels.push(Cow::Borrowed("contracts"));
        }
        fields.push(Field::plain("params", self.params(item, place, kind)?));
        self.result(item, place, kind, &mut fields)?;
        let body = self.field_of_kind(item, place, "body", kind)?;
        check_expression(self.tree, body, &place.key("body"))?;
        fields.push(Field::new("body", FieldRole::Body, Piece::Node(body)));
        if let Some(doc) = self.tree.field(item, "doc") {
            let text = self.tree.string(doc).ok_or_else(|| place.key("doc").error("doc must be a string"))?;
            let trimmed = trim(text);
            if !trimmed.is_empty() {
                fields.push(Field::plain("doc", Piece::Text(trimmed)));
            }
        }
        fields.sort_by_key(|field| field.key);
        Ok(Declaration {
            kind,
            name: Some(name),
            is_callable: true,
            is_definition: true,
            only_in_focus: false,
            exports: None,
            fields,
            type_labels: labels,
        })
    }

    /// `extern`.
    pub(super) fn foreign_function(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
    ) -> Result<Declaration<'a>, X07Error> {
        let name = self.symbol_in_module(item, place, "extern")?;
        let abi = required_string(self.tree, item, place, "abi")?;
        if abi.trim() != "C" {
            return Err(place.key("abi").error(format!("unsupported extern abi: expected \"C\" got {abi:?}")));
        }
        let link_name = self.link_name(item, place, &name)?;
        let params = self.params(item, place, "extern")?;
        self.only_foreign_params(item, place)?;
        let result = self.field_of_kind(item, place, "result", "extern")?;
        let is_void = self.tree.string(result).is_some_and(|text| text.trim() == "void");
        if !is_void {
            let inside = place.key("result");
            check_type(self.tree, result, &inside)?;
            if !is_foreign(self.tree, result) {
                return Err(
                    inside.error("extern result has unsupported type (only i32 and raw pointers are supported)")
                );
            }
        }
        let fields = vec![
            text_field("abi", "C"),
            text_field("kind", "extern"),
            Field::plain("link_name", Piece::Text(link_name)),
            Field::plain("name", Piece::Text(name.clone())),
            Field::plain("params", params),
            if is_void { text_field("result", "void") } else { Field::plain("result", Piece::Node(result)) },
        ];
        Ok(Declaration {
            kind: "extern",
            name: Some(name),
            is_callable: true,
            is_definition: false,
            only_in_focus: false,
            exports: None,
            fields,
            type_labels: Vec::new(),
        })
    }

    /// `defrecord`.
    pub(super) fn record(&self, item: NodeId, place: &SourcePosition<'_>) -> Result<Declaration<'a>, X07Error> {
        let (name, members) = self.named_members(item, place, "defrecord", "fields", "field")?;
        let inside = place.key("fields");
        let mut seen = FxHashSet::default();
        let mut pieces = Vec::with_capacity(members.len());
        for (index, member) in members.into_iter().enumerate() {
            let member_place = inside.index(index);
            if self.tree.kind(member) != JsonKind::Object {
                return Err(member_place.error(format!("record field {index} must be an object")));
            }
            let field_name = required_string(self.tree, member, &member_place, "name")?;
            if !seen.insert(field_name.clone()) {
                return Err(member_place.key("name").error(format!("duplicate record field: {field_name:?}")));
            }
            let ty = required_string(self.tree, member, &member_place, "ty")?;
            if ty != "i32" && ty != "u32" {
                return Err(member_place.key("ty").error(format!(
                    "record field {field_name:?} has type {ty:?}; records support only `i32` and `u32` fields"
                )));
            }
            pieces.push(Piece::record(vec![
                Field::plain("name", Piece::Text(field_name)),
                Field::plain("ty", Piece::Text(ty)),
            ]));
        }
        Ok(self.nominal("defrecord", name, item, Field::plain("fields", Piece::List(pieces))))
    }

    /// `defenum`.
    pub(super) fn enumeration(&self, item: NodeId, place: &SourcePosition<'_>) -> Result<Declaration<'a>, X07Error> {
        let (name, members) = self.named_members(item, place, "defenum", "variants", "variant")?;
        let inside = place.key("variants");
        let mut seen = FxHashSet::default();
        let mut pieces = Vec::with_capacity(members.len());
        for (index, member) in members.into_iter().enumerate() {
            let member_place = inside.index(index);
            if self.tree.kind(member) != JsonKind::Object {
                return Err(member_place.error(format!("enum variant {index} must be an object")));
            }
            let variant = required_string(self.tree, member, &member_place, "name")?;
            if !seen.insert(variant.clone()) {
                return Err(member_place.key("name").error(format!("duplicate enum variant: {variant:?}")));
            }
            let mut fields = vec![Field::plain("name", Piece::Text(variant.clone()))];
            if let Some(payload) = self.tree.field(member, "payload") {
                let payload_place = member_place.key("payload");
                let ty = self.tree.string(payload);
                let ty = ty.ok_or_else(|| payload_place.error("enum variant payload must be a type name string"))?;
                if ty != "i32" && ty != "u32" {
                    return Err(payload_place.error(format!(
                        "enum variant {variant:?} payload type {ty:?} is unsupported; variants carry nothing, an `i32` or a `u32`"
                    )));
                }
                fields.push(Field::plain("payload", Piece::Text(ty)));
            }
            pieces.push(Piece::record(fields));
        }
        Ok(self.nominal("defenum", name, item, Field::plain("variants", Piece::List(pieces))))
    }

    /// The name and members of a record or an enum. The name is not checked, as in the toolchain.
    fn named_members(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        kind: &'static str,
        key: &'static str,
        member: &str,
    ) -> Result<(Cow<'a, str>, Vec<NodeId>), X07Error> {
        if self.version < RECORDS_SINCE {
            return Err(place.key("kind").error(format!("{kind} is only supported in x07.x07ast@0.9.0")));
        }
        let name = required_string(self.tree, item, place, "name")?;
        let inside = place.key(key);
        let array = self.tree.field(item, key).filter(|&array| self.tree.kind(array) == JsonKind::Array);
        let array = array.ok_or_else(|| inside.error(format!("{kind} requires a `{key}` array")))?;
        let members: Vec<NodeId> = self.tree.items(array).collect();
        if members.is_empty() {
            return Err(inside.error(format!("{kind} requires at least one {member}")));
        }
        Ok((name, members))
    }

    fn nominal(&self, kind: &'static str, name: Cow<'a, str>, item: NodeId, members: Field<'a>) -> Declaration<'a> {
        let mut fields = vec![text_field("kind", kind), Field::plain("name", Piece::Text(name.clone())), members];
        if let Some(doc) = self.tree.field(item, "doc").and_then(|doc| self.tree.string(doc)) {
            fields.push(Field::plain("doc", Piece::Text(doc)));
        }
        fields.sort_by_key(|field| field.key);
        Declaration {
            kind,
            name: Some(name),
            is_callable: false,
            is_definition: false,
            only_in_focus: false,
            exports: None,
            fields,
            type_labels: Vec::new(),
        }
    }

    fn symbol_in_module(&self, item: NodeId, place: &SourcePosition<'_>, kind: &str) -> Result<Cow<'a, str>, X07Error> {
        let name = required_string(self.tree, item, place, "name")?;
        let inside = place.key("name");
        check_symbol(&name).map_err(|message| inside.error(message))?;
        let is_inside = name.strip_prefix(self.module_id).is_some_and(|rest| rest.starts_with('.'));
        if !is_inside {
            let prefix = format!("{}.", self.module_id);
            return Err(inside.error(format!("{kind} name must start with {prefix:?}, got {name:?}")));
        }
        Ok(name)
    }

    fn refuse_fields_of_other_versions(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        is_async: bool,
    ) -> Result<(), X07Error> {
        let has = |key: &str| self.tree.field(item, key).is_some();
        let refuse = |key: &'static str, why: &str| Err(place.key(key).error(format!("{key} {why}")));
        if self.version < CONTRACTS_SINCE {
            for key in ["requires", "ensures", "invariant", "loop_contracts", "protocol"] {
                if has(key) {
                    return refuse(key, "is only supported since x07.x07ast@0.5.0");
                }
            }
        }
        if has("decreases") {
            if is_async {
                return refuse("decreases", "is only supported on defn declarations");
            }
            if self.version < DECREASES_SINCE {
                return refuse("decreases", "is only supported since x07.x07ast@0.8.0");
            }
        }
        if !is_async && has("protocol") {
            return refuse("protocol", "is only supported on defasync declarations");
        }
        Ok(())
    }

    fn type_params(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        fields: &mut Vec<Field<'a>>,
        labels: &mut Vec<Cow<'a, str>>,
    ) -> Result<(), X07Error> {
        let Some(array) = self.tree.field(item, "type_params") else { return Ok(()) };
        let inside = place.key("type_params");
        if self.tree.kind(array) != JsonKind::Array {
            return Err(inside.error("type_params must be an array"));
        }
        let mut pieces = Vec::new();
        let mut seen = FxHashSet::default();
        for (index, param) in self.tree.items(array).enumerate() {
            let param_place = inside.index(index);
            if self.tree.kind(param) != JsonKind::Object {
                return Err(param_place.error("type_params item must be an object"));
            }
            let name = required_string(self.tree, param, &param_place, "name")?;
            check_local_name(&name).map_err(|message| param_place.key("name").error(message))?;
            if !seen.insert(name.clone()) {
                return Err(param_place.key("name").error(format!("duplicate type param name: {name:?}")));
            }
            labels.push(name.clone());
            let mut param_fields = vec![Field::plain("name", Piece::Text(name))];
            if let Some(bound) = self.tree.field(param, "bound") {
                let bound_place = param_place.key("bound");
                let bound = self.tree.string(bound).ok_or_else(|| bound_place.error("bound must be a string"))?;
                check_type_name(&bound).map_err(|message| bound_place.error(message))?;
                param_fields.push(Field::plain("bound", Piece::Text(bound)));
            }
            pieces.push(Piece::record(param_fields));
        }
        if !pieces.is_empty() {
            fields.push(Field::new("type_params", FieldRole::Type, Piece::List(pieces)));
        }
        Ok(())
    }

    fn params(&self, item: NodeId, place: &SourcePosition<'_>, kind: &str) -> Result<Piece<'a>, X07Error> {
        let array = self.field_of_kind(item, place, "params", kind)?;
        let inside = place.key("params");
        if self.tree.kind(array) != JsonKind::Array {
            return Err(inside.error(format!("{kind}.params must be an array")));
        }
        let mut pieces = Vec::new();
        for (index, param) in self.tree.items(array).enumerate() {
            let param_place = inside.index(index);
            if self.tree.kind(param) != JsonKind::Object {
                return Err(param_place.error(format!("{kind}.params[{index}] must be an object")));
            }
            pieces.push(self.param(param, &param_place, kind)?);
        }
        Ok(Piece::List(pieces))
    }

    fn param(&self, param: NodeId, place: &SourcePosition<'_>, kind: &str) -> Result<Piece<'a>, X07Error> {
        let name = required_string(self.tree, param, place, "name")?;
        check_local_name(&name).map_err(|message| place.key("name").error(message))?;
        if name == "input" {
            return Err(place.key("name").error(format!(
                "{kind} arg name must not be 'input' (reserved); rename to 'data', 'payload', 'in_bytes', or 'buf'"
            )));
        }
        let ty = self.tree.field(param, "ty").ok_or_else(|| place.error("missing required field: ty"))?;
        check_type(self.tree, ty, &place.key("ty"))?;
        let mut fields = Vec::with_capacity(3);
        if let Some(brand) = self.brand(param, place, "brand")? {
            if !is_bytes_like(self.tree, ty) {
                let shown = self.tree.text(ty);
                return Err(place
                    .key("ty")
                    .error(format!("E_BRAND_BAD_TY: brand is not allowed on param type {shown}")));
            }
            fields.push(Field::new("brand", FieldRole::Type, Piece::Text(brand)));
        }
        fields.push(Field::plain("name", Piece::Text(name)));
        fields.push(Field::plain("ty", Piece::Node(ty)));
        Ok(Piece::Record(fields))
    }

    fn only_foreign_params(&self, item: NodeId, place: &SourcePosition<'_>) -> Result<(), X07Error> {
        let Some(array) = self.tree.field(item, "params") else { return Ok(()) };
        for (index, param) in self.tree.items(array).enumerate() {
            let is_fine = self.tree.field(param, "ty").is_some_and(|ty| is_foreign(self.tree, ty));
            if !is_fine {
                return Err(place
                    .key("params")
                    .index(index)
                    .key("ty")
                    .error("extern param has unsupported type (only i32 and raw pointers are supported)"));
            }
        }
        Ok(())
    }

    fn result(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        kind: &str,
        fields: &mut Vec<Field<'a>>,
    ) -> Result<(), X07Error> {
        let result = self.field_of_kind(item, place, "result", kind)?;
        check_type(self.tree, result, &place.key("result"))?;
        fields.push(Field::plain("result", Piece::Node(result)));
        if let Some(brand) = self.brand(item, place, "result_brand")? {
            if !is_bytes_like(self.tree, result) {
                let shown = self.tree.text(result);
                return Err(place
                    .key("result")
                    .error(format!("E_BRAND_BAD_TY: result_brand is not allowed on result type {shown}")));
            }
            fields.push(Field::new("result_brand", FieldRole::Type, Piece::Text(brand)));
        }
        Ok(())
    }

    fn brand(&self, object: NodeId, place: &SourcePosition<'_>, key: &str) -> Result<Option<Cow<'a, str>>, X07Error> {
        let Some(brand) = self.tree.field(object, key) else { return Ok(None) };
        let inside = place.key(key);
        let text = self.tree.string(brand).ok_or_else(|| inside.error(format!("{key} must be a string")))?;
        check_symbol(&text).map_err(|message| inside.error(message))?;
        Ok(Some(text))
    }

    fn link_name(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        name: &Cow<'a, str>,
    ) -> Result<Cow<'a, str>, X07Error> {
        if let Some(link_name) = self.tree.field(item, "link_name") {
            let inside = place.key("link_name");
            let text = self.tree.string(link_name).ok_or_else(|| inside.error("link_name must be a string"))?;
            check_local_name(&text).map_err(|message| inside.error(message))?;
            return Ok(text);
        }
        let last = match name {
            Cow::Borrowed(text) => Cow::Borrowed(last_segment(text)),
            Cow::Owned(text) => Cow::Owned(last_segment(text).to_owned()),
        };
        check_local_name(&last).map_err(|message| place.key("name").error(message))?;
        Ok(last)
    }

    fn field_of_kind(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        key: &str,
        kind: &str,
    ) -> Result<NodeId, X07Error> {
        self.tree.field(item, key).ok_or_else(|| place.error(format!("missing required field: {key} in {kind}")))
    }
}

fn text_field(key: &'static str, text: &'static str) -> Field<'static> {
    Field::plain(key, Piece::Text(Cow::Borrowed(text)))
}

fn last_segment(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

fn trim(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}
