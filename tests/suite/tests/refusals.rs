//! Is a declaration, publication or source table that cannot work refused by its own reason, and repaired by what is shown?

use replicant_checkpoint::contract::resource::TableName;
use replicant_tests::setups::Repair::{Run, Shown};
use replicant_tests::setups::Side::Source;
use replicant_tests::setups::{Case, GOOD, check_all};

const REPUBLISH: &str =
    "alter publication \"everything\" set (publish = 'insert, update, delete, truncate')";

#[tokio::test(flavor = "multi_thread")]
async fn a_publication_that_leaves_something_out_is_refused_with_the_statement_that_completes_it() {
    check_all(&[
        Case {
            what: "an unpublished table",
            source: "drop publication everything; create publication everything for table nudge",
            code: "source_table_missing",
            repair: Run(Source, "alter publication everything add table t"),
            ..GOOD
        },
        Case {
            what: "no deletes",
            source: "alter publication everything set (publish = 'insert, update, truncate')",
            code: "publication_shape",
            mentions: &["delete is not published", REPUBLISH],
            repair: Shown(Source),
            ..GOOD
        },
        Case {
            what: "no truncates",
            source: "alter publication everything set (publish = 'insert, update, delete')",
            code: "publication_shape",
            mentions: &["truncate is not published", REPUBLISH],
            repair: Shown(Source),
            ..GOOD
        },
        Case {
            what: "a row filter",
            since: 15,
            source: "drop publication everything; create publication everything for table nudge, t where (id > 0)",
            code: "publication_shape",
            mentions: &["public.t", "rows are filtered"],
            repair: Shown(Source),
            ..GOOD
        },
        Case {
            what: "a column list",
            since: 15,
            source: "drop publication everything; create publication everything for table nudge, t (id)",
            code: "source_column_unpublished",
            mentions: &["public.t", "column v"],
            repair: Run(Source, "alter publication everything set table nudge, t"),
            ..GOOD
        },
        Case {
            what: "a table nobody declared",
            source: "create table extra (id int)",
            code: "source_table_unmapped",
            mentions: &["public.extra", "ignored_sources"],
            repair: Run(Source, "drop table extra"),
            ..GOOD
        },
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_table_that_cannot_be_mirrored_is_refused_and_named() {
    check_all(&[
        Case {
            what: "a column that is gone",
            source: "alter table t drop column v",
            code: "source_column_missing",
            mentions: &["public.t", "column v"],
            repair: Run(Source, "alter table t add column v text"),
            ..GOOD
        },
        Case {
            what: "a column nobody declared",
            source: "alter table t add column w int",
            code: "source_column_unmapped",
            mentions: &["public.t", "column w"],
            repair: Run(Source, "alter table t drop column w"),
            ..GOOD
        },
        Case {
            what: "replica identity nothing",
            source: "alter table t replica identity nothing",
            code: "source_replica_identity",
            repair: Shown(Source),
            ..GOOD
        },
        Case {
            what: "no key at all",
            source: "alter table t drop constraint t_pkey",
            code: "source_replica_identity",
            repair: Shown(Source),
            ..GOOD
        },
        Case {
            what: "a wider type than the destination's",
            source: "alter table t alter column id type bigint",
            code: "type_pair_lossy",
            mentions: &["public.t", "column id"],
            repair: Run(Source, "alter table t alter column id type int"),
            ..GOOD
        },
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_that_contradicts_itself_or_the_source_is_refused() {
    check_all(&[
        Case {
            what: "a declaration the compiler had refused",
            declare: |it| it.with("t", |resource| resource.broken = true),
            code: "declaration_invalid",
            mentions: &[],
            ..GOOD
        },
        Case {
            what: "mapped and ignored",
            declare: |mut it| {
                it.ignored.push(TableName {
                    schema: "public",
                    table: "t",
                });
                it
            },
            code: "ignored_source_mapped",
            ..GOOD
        },
        Case {
            what: "two resources for one destination table",
            source: "create table u (id int primary key, v text)",
            declare: |mut it| {
                let mut second = it.resources[0];
                second.source.table = "u";
                it.resources.push(second);
                it
            },
            code: "destination_target_claimed",
            ..GOOD
        },
    ])
    .await;
}
