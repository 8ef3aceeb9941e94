//! Contract clauses of functions (`requires`, `ensures`, …), protocols, loop contracts. Their expressions are kept as source
//! text.

use std::borrow::Cow;

use stan_model::json::{JsonKind, NodeId};
use stan_model::module::{Field, FieldRole, Piece};

use super::declaration::{DeclarationReader, required_string};
use super::expression::check_expression;
use super::source_position::{SourcePosition, X07Error};

// Indices in `SCHEMA_VERSIONS` of the versions that introduced a feature.
const LOOP_CONTRACTS_SINCE: usize = 3;
const PROTOCOL_SINCE: usize = 4;

impl<'a> DeclarationReader<'_, 'a> {
    pub(super) fn protocol(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        fields: &mut Vec<Field<'a>>,
    ) -> Result<(), X07Error> {
        let Some(protocol) = self.tree.field(item, "protocol") else { return Ok(()) };
        let inside = place.key("protocol");
        if self.version < PROTOCOL_SINCE {
            return Err(inside.error("protocol is only supported since x07.x07ast@0.7.0"));
        }
        if self.tree.kind(protocol) != JsonKind::Object {
            return Err(inside.error("protocol must be an object"));
        }
        let mut clauses = Vec::new();
        for key in ["await_invariant", "scope_invariant", "cancellation_ensures"] {
            self.contract_field(protocol, &inside, key, FieldRole::Contract, &mut clauses)?;
        }
        // A protocol without clauses is not a contract: there is nothing to leave out.
        let role = if clauses.is_empty() { FieldRole::Plain } else { FieldRole::Contract };
        fields.push(Field::new("protocol", role, Piece::record(clauses)));
        Ok(())
    }

    pub(super) fn loop_contracts(
        &self,
        item: NodeId,
        place: &SourcePosition<'_>,
        fields: &mut Vec<Field<'a>>,
    ) -> Result<(), X07Error> {
        let Some(array) = self.tree.field(item, "loop_contracts") else { return Ok(()) };
        let inside = place.key("loop_contracts");
        if self.version < LOOP_CONTRACTS_SINCE {
            return Err(inside.error("loop_contracts is only supported since x07.x07ast@0.6.0"));
        }
        if self.tree.kind(array) != JsonKind::Array {
            return Err(inside.error("loop_contracts must be an array"));
        }
        let mut pieces = Vec::new();
        let mut role = FieldRole::Plain;
        for (index, contract) in self.tree.items(array).enumerate() {
            let contract_place = inside.index(index);
            if self.tree.kind(contract) != JsonKind::Object {
                return Err(contract_place.error("loop_contracts item must be an object"));
            }
            let ptr = required_string(self.tree, contract, &contract_place, "ptr")?;
            let mut contract_fields = vec![Field::plain("ptr", loop_pointer(ptr))];
            for key in ["invariant", "decreases"] {
                let clauses = self.clauses(contract, &contract_place, key)?;
                if !clauses.is_empty() {
                    role = FieldRole::Contract;
                }
                contract_fields.push(Field::plain(key, Piece::List(clauses)));
            }
            pieces.push(Piece::record(contract_fields));
        }
        if !pieces.is_empty() {
            fields.push(Field::new("loop_contracts", role, Piece::List(pieces)));
        }
        Ok(())
    }

    pub(super) fn contract_field(
        &self,
        object: NodeId,
        place: &SourcePosition<'_>,
        key: &'static str,
        role: FieldRole,
        fields: &mut Vec<Field<'a>>,
    ) -> Result<(), X07Error> {
        let clauses = self.clauses(object, place, key)?;
        if !clauses.is_empty() {
            fields.push(Field::new(key, role, Piece::List(clauses)));
        }
        Ok(())
    }

    fn clauses(
        &self,
        object: NodeId,
        place: &SourcePosition<'_>,
        key: &'static str,
    ) -> Result<Vec<Piece<'a>>, X07Error> {
        let Some(array) = self.tree.field(object, key) else { return Ok(Vec::new()) };
        let inside = place.key(key);
        if self.tree.kind(array) != JsonKind::Array {
            return Err(inside.error(format!("{key} must be an array")));
        }
        self.tree
            .items(array)
            .enumerate()
            .map(|(index, clause)| self.clause(clause, &inside.index(index), key))
            .collect()
    }

    fn clause(&self, clause: NodeId, place: &SourcePosition<'_>, key: &str) -> Result<Piece<'a>, X07Error> {
        if self.tree.kind(clause) != JsonKind::Object {
            return Err(place.error(format!("{key} clause must be an object")));
        }
        let mut fields = Vec::with_capacity(3);
        if let Some(id) = self.tree.field(clause, "id") {
            let id = self.tree.string(id).ok_or_else(|| place.key("id").error("id must be a string"))?;
            fields.push(Field::plain("id", Piece::Text(id)));
        }
        let expr = self.tree.field(clause, "expr").ok_or_else(|| place.error("missing required field: expr"))?;
        check_expression(self.tree, expr, &place.key("expr"))?;
        fields.push(Field::plain("expr", Piece::Node(expr)));
        if let Some(witness) = self.tree.field(clause, "witness") {
            let inside = place.key("witness");
            if self.tree.kind(witness) != JsonKind::Array {
                return Err(inside.error("witness must be an array"));
            }
            let mut pieces = Vec::new();
            for (index, item) in self.tree.items(witness).enumerate() {
                check_expression(self.tree, item, &inside.index(index))?;
                pieces.push(Piece::Node(item));
            }
            if !pieces.is_empty() {
                fields.push(Field::plain("witness", Piece::List(pieces)));
            }
        }
        Ok(Piece::record(fields))
    }
}

/// A loop's pointer is relative to its function; a pointer that does not address a body is kept as is.
fn loop_pointer(text: Cow<'_, str>) -> Piece<'_> {
    let Some(start) = text.find("/body") else { return Piece::Text(text) };
    Piece::OwnPointer(match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    })
}
