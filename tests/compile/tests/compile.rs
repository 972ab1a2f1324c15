//! Which declarations compile, and what the compiler says about those that do not.

#[test]
fn declarations() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/pass/*.rs");
}
