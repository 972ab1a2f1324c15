//! What was declared has names in Rust, usable in constants, re-exported with the type, and typed.
#![deny(warnings)]

use replicant_sink::prelude::*;

mod inner {
    use replicant_sink::prelude::*;

    pub type Maybe<T> = Option<T>;

    #[replicant(
        table = "orders",
        actions(read, destroy, create(accept = all), update(r#match, accept(note)), update(close, accept(note))),
    )]
    pub struct Order {
        #[replicant(primary_key)]
        pub id: i64,
        pub note: Maybe<String>,
        pub r#type: Vec<Option<i32>>,
        secret: String,
    }

    pub fn secret() -> &'static str {
        Order::COLUMNS.secret.field()
    }
}

pub use inner::Order as Renamed;

const CLOSE: ActionRef = Renamed::ACTIONS.close;

#[test]
fn constants_name_what_was_declared() {
    assert_eq!(CLOSE.action, "close");
    assert_eq!(CLOSE.resource, <Renamed as Resource>::PATH);
    assert_eq!(Renamed::ACTIONS.create.action, "create");
    assert_eq!(Renamed::ACTIONS.r#match.action, "match");
    assert_eq!(Renamed::COLUMNS.note.field(), "note");
    assert_eq!(Renamed::COLUMNS.r#type.field(), "type");
    assert_eq!(inner::secret(), "secret");
}

#[test]
fn a_re_exported_resource_is_the_same_in_a_domain() {
    #[replicant_domain(resources(Renamed))]
    struct Shop;

    assert_eq!(Shop::RESOURCES.len(), 1);
    assert_eq!(Shop::CODE.len(), 1);
    assert_eq!(
        Shop::RESOURCES.first().map(|spec| spec.rust_name),
        Some("Order")
    );
}
