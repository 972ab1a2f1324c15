//! May a declaration change between two starts? What only grows goes on; anything else stops with the checkpoint untouched.

use replicant_checkpoint::contract::resource::{
    Fidelity, IdentitySpec, Nullability, Origin, Storage, TableName,
};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{assert_says, checkpoint_text, drop_slot, refused};
use replicant_tests::specification::{Specification, column};

const BASE: &str = "create table t (id int primary key, v text, w text, k int not null unique);
    create table u (id int primary key); create table other (id int primary key, v text, w text, k int not null unique)";

/// The first declaration: `t` without `w`, `u`, and `other` ignored.
fn first(mut declared: Specification) -> Specification {
    declared.ignored.push(table("other"));
    without(declared, "w")
}

fn table(table: &'static str) -> TableName {
    TableName {
        schema: "public",
        table,
    }
}

/// Takes a column of `t` out of the declaration and skips it.
fn without(declared: Specification, name: &str) -> Specification {
    declared.with("t", |resource| {
        let gone = resource
            .columns
            .iter()
            .find(|column| column.target == name)
            .unwrap()
            .target;
        let mut skips = resource.skips.to_vec();
        skips.push(gone);
        resource.skips = Vec::leak(skips);
        resource.columns = kept(resource.columns, name);
    })
}

fn kept(
    columns: &[replicant_checkpoint::contract::resource::ColumnSpec],
    without: &str,
) -> &'static [replicant_checkpoint::contract::resource::ColumnSpec] {
    Vec::leak(
        columns
            .iter()
            .filter(|one| one.target != without)
            .copied()
            .collect(),
    )
}

struct Change {
    drift: &'static str,
    mentions: &'static [&'static str],
    source: &'static str,
    destination: &'static str,
    declare: fn(Specification) -> Specification,
}

const UNCHANGED: Change = Change {
    drift: "",
    mentions: &["public.t"],
    source: "",
    destination: "",
    declare: |it| it,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_that_gives_stored_rows_another_meaning_is_refused_and_nothing_is_written() {
    let changes = [
        Change {
            drift: "ignores",
            mentions: &["public.other"],
            source: "drop table other",
            declare: |mut it| {
                it.ignored.retain(|one| one.table != "other");
                it
            },
            ..UNCHANGED
        },
        Change {
            drift: "relation_removed",
            mentions: &["public.u"],
            declare: |mut it| {
                it.resources.retain(|one| one.source.table != "u");
                it.ignored.push(table("u"));
                it
            },
            ..UNCHANGED
        },
        Change {
            drift: "relation_retargeted",
            declare: |it| it.with("t", |resource| resource.target = table("other")),
            ..UNCHANGED
        },
        Change {
            drift: "key_changed",
            declare: |it| {
                it.with("t", |resource| {
                    resource.identities = const { &[IdentitySpec::new("by_k", &["k"])] };
                    resource.upsert_identity = Some("by_k");
                })
            },
            source: "alter table t replica identity full",
            ..UNCHANGED
        },
        Change {
            drift: "column_removed",
            mentions: &["public.t", "column v"],
            source: "alter table t drop column v",
            declare: |it| {
                it.with("t", |resource| {
                    resource.columns = kept(resource.columns, "v")
                })
            },
            ..UNCHANGED
        },
        Change {
            drift: "skip_reactivated",
            mentions: &["public.t", "column w"],
            source: "alter table t drop column w",
            declare: |it| it.with("t", |resource| resource.skips = &[]),
            ..UNCHANGED
        },
        Change {
            drift: "column_changed",
            mentions: &["public.t", "column v"],
            declare: |it| {
                it.with("t", |resource| {
                    let mut columns = kept(resource.columns, "v").to_vec();
                    let mut moved = column("w", Nullability::Nullable);
                    moved.origin = Origin::Source("v");
                    columns.push(moved);
                    resource.columns = Vec::leak(columns);
                })
            },
            ..UNCHANGED
        },
        Change {
            drift: "column_type",
            mentions: &["public.t", "column v"],
            declare: |it| {
                it.with("t", |resource| {
                    let mut columns = kept(resource.columns, "v").to_vec();
                    let mut typed = column("v", Nullability::Nullable);
                    typed.storage = Storage::Text;
                    columns.push(typed);
                    resource.columns = Vec::leak(columns);
                })
            },
            ..UNCHANGED
        },
        Change {
            drift: "publication",
            mentions: &[],
            source: "create publication second for table u",
            ..UNCHANGED
        },
    ];
    for change in changes {
        let world = World::same(BASE).await;
        let of =
            async || Specification::of_tables(&world.destination, world.slot, &["t", "u"]).await;
        let handle = world.start(first(of().await).build()).await;
        world.run("insert into t values (1, 'a', 'b', 1)").await;
        world.caught_up().await;
        handle.stop().await.unwrap();
        let stored = checkpoint_text(&world).await;

        let changed = (change.declare)(first(of().await)).build();
        world.run(change.source).await;
        world
            .destination
            .batch_execute(change.destination)
            .await
            .unwrap();
        let mut pipeline = world.pipeline(changed).await;
        if change.drift == "publication" {
            pipeline = pipeline.publication("second");
        }
        let error = refused(&pipeline).await;
        assert_says(
            &error,
            "publication_contract_incompatible",
            change.mentions,
            change.drift,
        );
        assert!(
            error.to_string().contains(change.drift),
            "{}: {error}",
            change.drift
        );
        assert_eq!(checkpoint_text(&world).await, stored, "{}", change.drift);
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declaration_that_grows_goes_on_from_the_same_position() {
    let world = World::same(BASE).await;
    let of = async || Specification::of_tables(&world.destination, world.slot, &["t", "u"]).await;
    let small = without(of().await, "v");
    let mut small = first(small);
    small.resources.retain(|one| one.source.table == "t");
    small.ignored.push(table("u"));
    let handle = world.start(small.build()).await;
    world.run("insert into t values (1, null, null, 1)").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    // A skipped column and an ignored table are mapped from now on.
    let handle = world.start(first(of().await).build()).await;
    world
        .run("insert into t values (2, 'b', null, 2); insert into u values (1)")
        .await;
    assert_equal(&world, &["t", "u"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loss_may_be_declared_later_but_not_taken_back() {
    let world = World::same("create table t (id int primary key, v text)").await;
    let lossy = async |fidelity: Fidelity| {
        world
            .specification(&["t"])
            .await
            .with("t", |resource| {
                let mut columns = resource.columns.to_vec();
                columns
                    .iter_mut()
                    .filter(|one| one.target == "v")
                    .for_each(|one| one.fidelity = fidelity);
                resource.columns = Vec::leak(columns);
            })
            .build()
    };
    world
        .start(lossy(Fidelity::Lossless).await)
        .await
        .stop()
        .await
        .unwrap();
    world
        .start(lossy(Fidelity::Lossy).await)
        .await
        .stop()
        .await
        .unwrap();
    let stored = checkpoint_text(&world).await;
    let error = refused(&world.pipeline(lossy(Fidelity::Lossless).await).await).await;
    assert_says(
        &error,
        "publication_contract_incompatible",
        &["column_changed", "column v"],
        "fidelity",
    );
    assert_eq!(checkpoint_text(&world).await, stored);
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_replaced_under_its_name_between_two_runs_is_noticed() {
    for (replace, code, mentions) in [
        (
            "alter table t drop column v; alter table t add column v text",
            "source_column_replaced",
            &["public.t", "column v"][..],
        ),
        (
            "drop table t; create table t (id int primary key, v text)",
            "source_table_replaced",
            &["public.t"],
        ),
    ] {
        let world = World::same("create table t (id int primary key, v text)").await;
        let spec = world.specification(&["t"]).await.build();
        let handle = world.start(spec).await;
        world.run("insert into t values (1, 'a')").await;
        world.caught_up().await;
        handle.stop().await.unwrap();
        let stored = checkpoint_text(&world).await;
        world.run(replace).await;
        for _ in 0..2 {
            let error = refused(&world.pipeline(spec).await).await;
            assert_says(&error, code, mentions, replace);
            assert_eq!(checkpoint_text(&world).await, stored, "{replace}");
        }
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_somebody_edited_is_not_believed() {
    let world = World::same("create table t (id int primary key)").await;
    let spec = world.specification(&["t"]).await.build();
    world.start(spec).await.stop().await.unwrap();
    let pipeline = world.pipeline(spec).await;
    for (edit, undo, code) in [
        (
            "update replicant.replicant_contracts set manifest = '\\x00'",
            "",
            "publication_contract_incompatible",
        ),
        (
            "update replicant.replicant_contracts set timeline = timeline + 1",
            "update replicant.replicant_contracts set timeline = timeline - 1",
            "source_timeline_changed",
        ),
        (
            "update replicant.replicant_watermarks set acked_end = acked_end + (1::bigint << 40)",
            "update replicant.replicant_watermarks set acked_end = acked_end - (1::bigint << 40)",
            "source_behind_watermark",
        ),
        (
            "update replicant.replicant_watermarks set watermark = 1, acked_end = 2",
            "",
            "destination_behind_slot",
        ),
    ]
    .into_iter()
    .rev()
    {
        let undo_all = checkpoint_rows(&world).await;
        world.destination.batch_execute(edit).await.unwrap();
        let edited = checkpoint_text(&world).await;
        let error = refused(&pipeline).await;
        assert_says(&error, code, &[], edit);
        assert_eq!(checkpoint_text(&world).await, edited, "{edit}");
        if undo.is_empty() {
            world.destination.batch_execute(&undo_all).await.unwrap();
        } else {
            world.destination.batch_execute(undo).await.unwrap();
        }
        world.start(spec).await.stop().await.unwrap();
    }
    drop_slot(&world).await;
}

/// A statement that puts positions and contract back as they are now.
async fn checkpoint_rows(world: &World) -> String {
    let (watermark, acked) = replicant_tests::refusal::positions(world).await.unwrap();
    let manifest: String = world
        .destination_text("select encode(manifest, 'hex') from replicant.replicant_contracts")
        .await;
    format!(
        "update replicant.replicant_watermarks set watermark = {}, acked_end = {};
         update replicant.replicant_contracts set manifest = '\\x{manifest}'",
        watermark.unwrap(),
        acked.unwrap()
    )
}
