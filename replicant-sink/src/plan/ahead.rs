//! A plan that is made before its turn, and waits together with the changes that it borrows from.

use std::fmt;
use std::sync::Arc;

use self_cell::self_cell;

use super::{Piece, Plan, Resolver, Tenants, plan};
use crate::generation::Generation;

/// Source transactions in commit order, and the plan for all of them if one could be made already.
pub(crate) struct Planned(Cell);

self_cell!(
    struct Cell {
        owner: Sources,
        #[covariant]
        dependent: Ahead,
    }
);

/// What a plan borrows from.
struct Sources {
    pieces: Vec<Piece>,
    tenants: Tenants,
    /// The tables that it was made for.
    generation: Arc<Generation>,
}

type Ahead<'a> = Option<Plan<'a>>;

impl Planned {
    /// Plans them now. What cannot be planned before its turn is left for then: an error has to be met in its turn, a
    /// hook that touches the database may change what follows, and the tables of a tenant who comes with these very
    /// changes are not known.
    pub(crate) fn ahead(resolver: &mut Resolver, pieces: Vec<Piece>) -> Self {
        let generation = Arc::clone(resolver.generation());
        let tenants = Tenants::of(resolver, &pieces).ok();
        let tenants = tenants.filter(|told| told.unseen().is_empty() && told.emptied().is_empty());
        let now = tenants.is_some() && !generation.hooks.any_database();
        let sources = Sources {
            pieces,
            tenants: tenants.unwrap_or_default(),
            generation,
        };
        Self(Cell::new(sources, |sources| {
            let planned = now.then(|| plan(resolver, &sources.pieces, &sources.tenants));
            planned.and_then(Result::ok)
        }))
    }

    /// The transactions themselves.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0.borrow_owner().pieces
    }

    /// The plan, if there is one and it was made for these tables.
    pub(crate) fn plan_for(&self, generation: &Arc<Generation>) -> Option<(&Plan<'_>, &Tenants)> {
        let sources = self.0.borrow_owner();
        let plan = self.0.borrow_dependent().as_ref()?;
        Arc::ptr_eq(&sources.generation, generation).then_some((plan, &sources.tenants))
    }
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let planned = self.0.borrow_dependent().is_some();
        let pieces = self.pieces().len();
        write!(f, "Planned({pieces} transactions, planned: {planned})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        INT8, TEXT, generation, insert, message, piece, plain_table, relation, t,
    };

    fn resolver() -> (Resolver, Vec<Piece>) {
        let columns = [("id", "int8", INT8), ("v", "text", TEXT)];
        let generation = Arc::new(generation(vec![plain_table("public.t", &columns, &[0])]));
        let relation = relation(&generation.tables[0]);
        let rows = (0..3).map(|id| insert(&relation, &[t(id), t("v")]));
        let pieces = [
            piece(rows.collect()),
            piece(vec![insert(&relation, &[t(9), t("w")])]),
        ];
        (Resolver::new(generation), pieces.concat())
    }

    #[test]
    fn a_plan_waits_with_its_changes_and_is_for_the_tables_that_it_was_made_for() {
        let (mut resolver, pieces) = resolver();
        let planned = Planned::ahead(&mut resolver, pieces);
        // Whatever holds it may move it.
        let moved = Box::new(planned);
        assert_eq!(moved.pieces().len(), 2);
        let (plan, _) = moved.plan_for(resolver.generation()).expect("planned");
        assert_eq!(plan.counts.inserts, 4);
        let others = Arc::new(Generation::clone(resolver.generation()));
        assert!(moved.plan_for(&others).is_none());
    }

    #[test]
    fn what_cannot_be_planned_fails_in_its_turn_and_not_before() {
        let (mut resolver, mut pieces) = resolver();
        pieces.extend(piece(vec![message()]));
        let planned = Planned::ahead(&mut resolver, pieces);
        assert!(planned.plan_for(resolver.generation()).is_none());
        assert_eq!(planned.pieces().len(), 3);
    }
}
