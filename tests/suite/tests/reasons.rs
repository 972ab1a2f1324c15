//! Has every reason a test that provokes it? A new reason without one, or without a word why not, fails here.

use std::path::Path;

use Provoked::{By, NotHere};

/// What shows that a reason is really given.
enum Provoked {
    /// This test of this file, which names the reason's code or variant.
    By(&'static str, &'static str),
    /// Why no test provokes it.
    NotHere(&'static str),
}

#[test]
fn every_reason_has_a_test_that_provokes_it_or_a_word_why_not() {
    let mut wrong = Vec::new();
    let mut check =
        |layer: &str, reasons: Vec<(&'static str, String)>, table: &[(&str, Provoked)]| {
            for (code, _) in table {
                if !reasons.iter().any(|(known, _)| known == code) {
                    wrong.push(format!(
                        "{layer}: no reason {code} any more; remove its line"
                    ));
                }
            }
            for (code, variant) in reasons {
                let lines: Vec<_> = table.iter().filter(|(listed, _)| *listed == code).collect();
                match lines.as_slice() {
                    [(_, By(file, test))] => {
                        if let Err(why) = provokes(file, test, code, &variant) {
                            wrong.push(format!("{layer}: {code}: {why}"));
                        }
                    }
                    [(_, NotHere(why))] if why.len() > 10 => {}
                    _ => wrong.push(format!(
                        "{layer}: {code}: add one line that names the test which provokes it"
                    )),
                }
            }
        };
    let of = |code, variant: &dyn std::fmt::Debug| (code, format!("{variant:?}"));
    use replicant_checkpoint::reason::Reason as OfCheckpoint;
    use replicant_sink::Reason as OfSink;
    use replicant_transport::reason::Reason as OfTransport;
    check(
        "transport",
        OfTransport::ALL
            .iter()
            .map(|one| of(one.code(), one))
            .collect(),
        TRANSPORT,
    );
    check(
        "checkpoint",
        OfCheckpoint::ALL
            .iter()
            .map(|one| of(one.code(), one))
            .collect(),
        CHECKPOINT,
    );
    check(
        "sink",
        OfSink::ALL.iter().map(|one| of(one.code(), one)).collect(),
        SINK,
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What only a start refuses is repaired as its own line shows, before anything exists that could be lost.
const AT_THE_START: &[&str] = &[
    "config_invalid",
    "start_mode_required",
    "option_not_available",
    "sql_type_required",
    "source_identity_required",
    "declaration_invalid",
    "source_table_missing",
    "ignored_source_mapped",
    "source_table_kind",
    "source_column_missing",
    "source_column_unpublished",
    "type_pair_lossy",
    "source_replica_identity",
    "publication_shape",
    "destination_table_missing",
    "destination_table_kind",
    "destination_column_missing",
    "destination_column_unfilled",
    "destination_nullability",
    "destination_generated_column",
    "destination_unique_missing",
    "destination_unique_too_narrow",
    "destination_foreign_key",
    "destination_trigger",
    "destination_rule",
    "destination_row_security",
    "destination_privilege",
    "destination_read_only",
    "destination_trust_refused",
];

/// What an operator finds about a halt: a row with its cause and its remedy.
#[test]
fn every_halt_has_its_cause_and_its_remedy_on_the_page() {
    use replicant_checkpoint::reason::Reason as OfCheckpoint;
    use replicant_sink::Class;
    use replicant_sink::Reason as OfSink;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/operating/halts.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let of_sink = OfSink::ALL.iter().map(|one| (one.code(), one.class()));
    let of_checkpoint = OfCheckpoint::ALL
        .iter()
        .map(|one| (one.code(), one.class()));
    let missing: Vec<&str> = of_sink
        .filter(|(code, _)| !AT_THE_START.contains(code))
        .chain(of_checkpoint)
        .filter(|(_, class)| *class != Class::Transient)
        .map(|(code, _)| code)
        .filter(|code| {
            let row = rows.iter().find(|row| row[0] == format!("`{code}`"));
            !row.is_some_and(|row| row.len() == 3 && row.iter().all(|cell| cell.len() > 5))
        })
        .collect();
    assert!(missing.is_empty(), "no cause and remedy: {missing:?}");
}

/// Does the test exist, and does its body name the reason?
fn provokes(file: &str, test: &str, code: &str, variant: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let text = std::fs::read_to_string(&path).map_err(|_| format!("no file {file}"))?;
    let start = text
        .find(&format!("fn {test}("))
        .ok_or_else(|| format!("no test {test} in {file}"))?;
    let rest = text.get(start..).unwrap_or_default();
    // A test ends where the next one begins.
    let body = rest
        .find("\n#[")
        .map_or(rest, |end| rest.get(..end).unwrap_or(rest));
    if body.contains(&format!("\"{code}\"")) || body.contains(&format!("Reason::{variant}")) {
        return Ok(());
    }
    Err(format!("{file}::{test} does not name it"))
}

#[rustfmt::skip]
const TRANSPORT: &[(&str, Provoked)] = &[
    ("config_invalid", By("tests/suite/tests/sessions.rs", "every_option_is_refused_by_its_key_and_never_quotes_its_value")),
    ("source_unreachable", By("tests/suite/tests/sessions.rs", "what_time_may_heal_is_tried_again_and_heals")),
    ("source_identity_mismatch", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("source_changed", NotHere("needs a server that is replaced between the two connections of one attempt")),
    ("source_release_unsupported", By("replicant-transport/src/session/server.rs", "a_server_that_cannot_decode_is_refused_by_name")),
    ("wal_level_not_logical", By("tests/suite/tests/sessions.rs", "a_source_without_room_or_level_for_a_slot_is_refused")),
    ("standby_unsupported", By("replicant-transport/src/session/server.rs", "a_server_that_cannot_decode_is_refused_by_name")),
    ("publication_missing", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("publication_changed", By("replicant-transport/tests/pipeline/schema.rs", "a_table_that_leaves_the_publication_halts")),
    ("publication_column_lists_differ", By("tests/suite/tests/sessions.rs", "publications_that_send_different_columns_of_one_table_are_refused")),
    ("source_column_replaced", By("replicant-transport/tests/pipeline/schema.rs", "a_column_replaced_under_its_own_name_halts_before_its_rows")),
    ("source_table_replaced", By("replicant-transport/tests/pipeline/schema.rs", "a_table_created_again_under_its_name_halts")),
    ("slot_missing", By("tests/suite/tests/sessions.rs", "a_dropped_slot_stops_the_mirror_and_is_not_created_again")),
    ("slot_active", By("replicant-transport/tests/pipeline/refusals.rs", "a_busy_slot_is_waited_for_and_its_consumer_left_alone")),
    ("slot_origin_unavailable", By("replicant-transport/src/session/slot.rs", "every_mismatch_has_its_own_reason")),
    ("slot_invalidated", By("replicant-transport/tests/pipeline/refusals.rs", "an_invalidated_slot_halts")),
    ("slot_not_logical", By("tests/suite/tests/sessions.rs", "a_slot_that_is_not_ours_is_refused_and_left_alone")),
    ("slot_plugin_mismatch", By("tests/suite/tests/sessions.rs", "a_slot_that_is_not_ours_is_refused_and_left_alone")),
    ("slot_database_mismatch", By("tests/suite/tests/sessions.rs", "a_slot_that_is_not_ours_is_refused_and_left_alone")),
    ("slot_temporary", By("replicant-transport/src/session/slot.rs", "every_mismatch_has_its_own_reason")),
    ("slot_two_phase", By("replicant-transport/tests/pipeline/refusals.rs", "a_slot_of_another_kind_is_refused_and_left_alone")),
    ("slot_synced", By("replicant-transport/src/session/slot.rs", "every_mismatch_has_its_own_reason")),
    ("slots_exhausted", By("tests/suite/tests/sessions.rs", "a_source_without_room_or_level_for_a_slot_is_refused")),
    ("source_behind_watermark", By("replicant-transport/tests/pipeline/refusals.rs", "a_source_behind_what_was_applied_halts")),
    ("source_silent", By("replicant-transport/tests/pipeline/faults.rs", "a_silent_connection_is_given_up")),
    ("stop_timed_out", By("replicant-transport/tests/pipeline/shutdown.rs", "a_stop_does_not_wait_for_ever_for_a_sink_that_does_not_finish")),
    ("sink_task_ended", By("replicant-transport/tests/pipeline/shutdown.rs", "a_sink_whose_task_died_silently_ends_the_session")),
    ("decode_failed", By("replicant-transport/src/wire/frame.rs", "a_frame_is_read_to_its_last_byte")),
    ("invalid_identifier", By("replicant-transport/src/wire/mod.rs", "a_name_that_cannot_be_carried_has_a_reason_of_its_own")),
    ("relation_unknown", By("replicant-transport/src/assemble/tests.rs", "a_table_that_was_not_described_in_this_session_halts")),
    ("row_shape_mismatch", By("replicant-transport/src/assemble/tests.rs", "a_row_is_laid_out_as_the_description_before_it_says")),
    ("stream_out_of_order", By("replicant-transport/src/assemble/tests.rs", "a_message_that_the_protocol_rules_out_halts")),
    ("connect_timeout", By("replicant-transport/tests/connect_scripted.rs", "a_silent_server_is_given_up_after_the_timeout")),
    ("host_not_found", By("tests/suite/tests/sessions.rs", "what_time_may_heal_is_tried_again_and_heals")),
    ("tls_refused", By("replicant-transport/tests/connect_tls.rs", "a_server_without_tls_is_reached_only_where_plaintext_is_allowed")),
    ("tls_certificate_untrusted", By("replicant-transport/tests/connect_tls.rs", "each_sslmode_encrypts_or_verifies_what_it_says")),
    ("tls_hostname_mismatch", By("replicant-transport/tests/connect_tls.rs", "each_sslmode_encrypts_or_verifies_what_it_says")),
    ("tls_failed", By("replicant-transport/tests/connect_tls.rs", "direct_negotiation_works_where_the_server_knows_it")),
    ("tls_file_unusable", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("credentials_file_unreadable", By("replicant-transport/tests/connect.rs", "passwords_come_from_uris_files_services_and_variables")),
    ("authentication_failed", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("password_missing", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("authentication_method_refused", By("replicant-transport/tests/connect.rs", "every_way_to_authenticate_is_spoken_or_refused")),
    ("cleartext_password_refused", By("replicant-transport/tests/connect_tls.rs", "a_server_without_tls_is_reached_only_where_plaintext_is_allowed")),
    ("channel_binding_unavailable", By("replicant-transport/tests/connect_tls.rs", "a_server_without_tls_is_reached_only_where_plaintext_is_allowed")),
    ("server_not_authentic", By("replicant-transport/tests/connect_scripted.rs", "lies_are_refused_and_the_password_stays_here")),
    ("session_settings_refused", By("tests/suite/tests/poolers.rs", "a_pooler_that_drops_the_settings_of_a_session_is_refused_before_it_writes")),
    ("database_missing", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("too_many_connections", By("replicant-transport/tests/connect.rs", "refusals_are_told_apart")),
    ("server_unavailable", By("replicant-transport/tests/connect_scripted.rs", "the_end_of_a_stream_and_an_error_in_it_stay")),
    ("session_attributes_unmatched", By("replicant-transport/tests/connect.rs", "the_wanted_kind_of_server_is_found_among_several")),
    ("privilege_missing", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("server_refused", By("replicant-transport/tests/connect.rs", "refusals_are_told_apart")),
    ("protocol_violation", By("replicant-transport/tests/connect_scripted.rs", "the_end_of_a_stream_and_an_error_in_it_stay")),
    ("stream_ended", By("replicant-transport/tests/connect_scripted.rs", "the_end_of_a_stream_and_an_error_in_it_stay")),
];

#[rustfmt::skip]
const CHECKPOINT: &[(&str, Provoked)] = &[
    ("checkpoint_invalid", NotHere("the rules of declarations refuse the same names first; it guards hand-written specifications")),
    ("checkpoint_not_migrated", By("replicant-checkpoint/tests/store/migrate.rs", "binding_before_the_migration_names_the_remedy")),
    ("checkpoint_format_unknown", By("replicant-checkpoint/tests/store/migrate.rs", "a_newer_format_is_refused_by_migration_and_by_bind")),
    ("checkpoint_unbound", By("replicant-checkpoint/tests/store/delivery.rs", "an_absent_row_is_unbound_and_never_position_zero")),
    ("checkpoint_damaged", By("replicant-checkpoint/tests/store/delivery.rs", "rows_do_not_commit_when_the_watermark_row_is_taken_away_inside_the_delivery")),
    ("checkpoint_position_invalid", By("replicant-checkpoint/tests/store/delivery.rs", "a_commit_that_does_not_lie_past_the_watermark_takes_nothing_with_it")),
    ("source_identity_rebound", By("replicant-checkpoint/tests/store/bind.rs", "what_does_not_fit_is_refused_and_nothing_is_written")),
    ("source_timeline_changed", By("tests/suite/tests/drift.rs", "a_checkpoint_that_somebody_edited_is_not_believed")),
    ("source_behind_watermark", By("tests/suite/tests/drift.rs", "a_checkpoint_that_somebody_edited_is_not_believed")),
    ("publication_contract_incompatible", By("tests/suite/tests/drift.rs", "a_declaration_that_gives_stored_rows_another_meaning_is_refused_and_nothing_is_written")),
    ("destination_target_claimed", By("tests/suite/tests/destination_refusals.rs", "one_destination_table_belongs_to_one_sink")),
    ("source_table_replaced", By("tests/suite/tests/drift.rs", "what_was_replaced_under_its_name_between_two_runs_is_noticed")),
    ("source_column_replaced", By("tests/suite/tests/drift.rs", "what_was_replaced_under_its_name_between_two_runs_is_noticed")),
    ("destination_behind_slot", By("tests/suite/tests/sessions.rs", "a_dropped_slot_stops_the_mirror_and_is_not_created_again")),
    ("append_origin_gap", By("tests/suite/tests/kept_resets.rs", "a_log_whose_slot_moved_on_halts")),
    ("append_frontier_divergent", By("tests/suite/tests/kept_resets.rs", "a_log_ahead_of_its_checkpoint_halts")),
    ("slot_already_active", By("tests/suite/tests/decisions.rs", "decisions_are_refused_while_an_owner_lives_and_recorded_once")),
    ("slot_owned_elsewhere", By("tests/suite/tests/ownership.rs", "a_second_process_is_refused_and_told_who_runs_the_pipeline")),
    ("lease_lost", By("tests/suite/tests/ownership.rs", "a_process_that_was_paused_is_replaced_and_writes_nothing_when_it_wakes_up")),
    ("checkpoint_adopt_conflict", By("replicant-checkpoint/tests/store/operator.rs", "adopting_is_idempotent_and_never_replaces_a_position")),
    ("checkpoint_adopt_invalid", By("replicant-checkpoint/tests/store/operator.rs", "acknowledging_a_timeline_lets_it_bind_and_fences_the_old_owner")),
    ("checkpoint_unreachable", NotHere("delivery reports the same fault as destination_unreachable")),
    ("checkpoint_contended", NotHere("delivery tries the same fault again and reports destination_contended")),
    ("checkpoint_not_replicated", By("replicant-checkpoint/tests/store/lost_commit.rs", "a_commit_that_no_standby_confirmed_is_not_called_durable")),
    ("checkpoint_refused", By("tests/suite/tests/destination_refusals.rs", "every_privilege_the_delivery_role_lacks_is_shown_as_a_grant_that_works")),
];

#[rustfmt::skip]
const SINK: &[(&str, Provoked)] = &[
    ("config_invalid", By("tests/suite/tests/sessions.rs", "every_option_is_refused_by_its_key_and_never_quotes_its_value")),
    ("start_mode_required", By("tests/suite/tests/sessions.rs", "a_start_names_everything_that_is_missing")),
    ("option_not_available", By("tests/suite/tests/sessions.rs", "every_option_is_refused_by_its_key_and_never_quotes_its_value")),
    ("sql_type_required", By("tests/suite/tests/migrations/text.rs", "what_a_declaration_does_not_tell_is_refused_by_name")),
    ("source_identity_required", By("tests/suite/tests/sessions.rs", "a_start_names_everything_that_is_missing")),
    ("slot_already_active", By("tests/suite/tests/sessions.rs", "a_pipeline_that_runs_in_this_process_is_not_started_twice")),
    ("slot_owned_elsewhere", By("tests/suite/tests/ownership.rs", "a_second_process_is_refused_and_told_who_runs_the_pipeline")),
    ("lease_lost", By("tests/suite/tests/ownership.rs", "a_process_that_was_paused_is_replaced_and_writes_nothing_when_it_wakes_up")),
    ("lease_not_renewed", By("tests/suite/tests/ownership.rs", "an_owner_that_cannot_renew_its_lease_lets_the_slot_go_and_goes_on_when_nobody_took_over")),
    ("slot_exists", By("tests/suite/tests/decisions.rs", "decisions_are_refused_while_an_owner_lives_and_recorded_once")),
    ("declaration_invalid", By("tests/suite/tests/refusals.rs", "a_declaration_that_contradicts_itself_or_the_source_is_refused")),
    ("source_table_missing", By("tests/suite/tests/refusals.rs", "a_publication_that_leaves_something_out_is_refused_with_the_statement_that_completes_it")),
    ("source_table_unmapped", By("tests/suite/tests/refusals.rs", "a_publication_that_leaves_something_out_is_refused_with_the_statement_that_completes_it")),
    ("ignored_source_mapped", By("tests/suite/tests/refusals.rs", "a_declaration_that_contradicts_itself_or_the_source_is_refused")),
    ("source_table_kind", By("replicant-sink/src/admission/tests/refused.rs", "what_the_source_lacks_is_shown_as_a_statement_that_adds_it")),
    ("source_column_missing", By("tests/suite/tests/refusals.rs", "a_source_table_that_cannot_be_mirrored_is_refused_and_named")),
    ("source_column_unmapped", By("tests/suite/tests/refusals.rs", "a_source_table_that_cannot_be_mirrored_is_refused_and_named")),
    ("source_column_unpublished", By("tests/suite/tests/refusals.rs", "a_publication_that_leaves_something_out_is_refused_with_the_statement_that_completes_it")),
    ("type_pair_lossy", By("tests/suite/tests/refusals.rs", "a_source_table_that_cannot_be_mirrored_is_refused_and_named")),
    ("source_replica_identity", By("tests/suite/tests/refusals.rs", "a_source_table_that_cannot_be_mirrored_is_refused_and_named")),
    ("publication_shape", By("tests/suite/tests/refusals.rs", "a_publication_that_leaves_something_out_is_refused_with_the_statement_that_completes_it")),
    ("destination_unique_too_narrow", By("tests/suite/tests/kept_refusals.rs", "what_a_history_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_table_missing", By("tests/suite/tests/destination_refusals.rs", "what_the_destination_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_table_kind", By("tests/suite/tests/destination_refusals.rs", "what_would_change_or_veto_rows_is_refused_with_the_statement_that_removes_it")),
    ("destination_column_missing", By("tests/suite/tests/destination_refusals.rs", "what_the_destination_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_column_unfilled", By("tests/suite/tests/destination_refusals.rs", "what_the_destination_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_nullability", By("tests/suite/tests/destination_refusals.rs", "what_the_destination_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_generated_column", By("tests/suite/tests/destination_refusals.rs", "what_the_destination_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_unique_missing", By("tests/suite/tests/destination_refusals.rs", "what_the_destination_lacks_is_refused_with_the_statement_that_adds_it")),
    ("destination_foreign_key", By("tests/suite/tests/destination_refusals.rs", "what_would_change_or_veto_rows_is_refused_with_the_statement_that_removes_it")),
    ("destination_trigger", By("tests/suite/tests/destination_refusals.rs", "what_would_change_or_veto_rows_is_refused_with_the_statement_that_removes_it")),
    ("destination_rule", By("tests/suite/tests/destination_refusals.rs", "what_would_change_or_veto_rows_is_refused_with_the_statement_that_removes_it")),
    ("destination_row_security", By("tests/suite/tests/destination_refusals.rs", "a_session_that_cannot_write_or_cannot_see_every_row_is_refused")),
    ("destination_privilege", By("tests/suite/tests/destination_refusals.rs", "every_privilege_the_delivery_role_lacks_is_shown_as_a_grant_that_works")),
    ("destination_read_only", By("tests/suite/tests/destination_refusals.rs", "a_session_that_cannot_write_or_cannot_see_every_row_is_refused")),
    ("destination_trust_refused", By("tests/suite/tests/destination_refusals.rs", "what_would_change_or_veto_rows_is_refused_with_the_statement_that_removes_it")),
    ("destination_target_claimed", By("tests/suite/tests/refusals.rs", "a_declaration_that_contradicts_itself_or_the_source_is_refused")),
    ("sealed_column_compared", By("tests/suite/tests/sealing.rs", "what_could_not_be_sealed_or_found_again_does_not_start")),
    ("vault_missing", By("tests/suite/tests/sealing.rs", "what_could_not_be_sealed_or_found_again_does_not_start")),
    ("vault_unavailable", By("tests/suite/tests/sealing.rs", "a_vault_that_is_away_is_asked_again_and_nothing_is_written_without_it")),
    ("vault_keys_invalid", By("tests/suite/tests/sealing.rs", "what_could_not_be_sealed_or_found_again_does_not_start")),
    ("sealing_key_unknown", By("tests/suite/tests/sealing.rs", "an_envelope_opens_by_its_declared_type_and_not_in_another_column")),
    ("sealed_value_invalid", By("tests/suite/tests/sealing.rs", "an_envelope_opens_by_its_declared_type_and_not_in_another_column")),
    ("sealed_value_unreadable", By("tests/suite/tests/sealing.rs", "an_envelope_opens_by_its_declared_type_and_not_in_another_column")),
    ("sealing_failed", By("replicant-sink/src/seal/tests.rs", "without_random_numbers_nothing_is_sealed")),
    ("hook_code_missing", By("tests/suite/tests/hooks/tables.rs", "a_specification_that_names_hooks_needs_the_code_of_exactly_those")),
    ("hook_failed", By("tests/suite/tests/hooks/stops.rs", "whatever_a_hook_does_wrong_stops_before_its_transaction_and_tells_no_value")),
    ("validation_refused", By("tests/suite/tests/hooks/shop.rs", "what_a_validation_refuses_stops_exactly_before_its_transaction")),
    ("hook_panicked", By("tests/suite/tests/hooks/stops.rs", "a_pure_hook_that_goes_wrong_stops_the_same_way")),
    ("hook_column_protected", By("tests/suite/tests/hooks/stops.rs", "whatever_a_hook_does_wrong_stops_before_its_transaction_and_tells_no_value")),
    ("hook_action_undeclared", By("tests/suite/tests/hooks/stops.rs", "whatever_a_hook_does_wrong_stops_before_its_transaction_and_tells_no_value")),
    ("hook_values_refused", By("tests/suite/tests/hooks/stops.rs", "whatever_a_hook_does_wrong_stops_before_its_transaction_and_tells_no_value")),
    ("hook_row_absent", By("tests/suite/tests/hooks/stops.rs", "whatever_a_hook_does_wrong_stops_before_its_transaction_and_tells_no_value")),
    ("append_origin_gap", By("tests/suite/tests/kept_resets.rs", "a_log_whose_slot_moved_on_halts")),
    ("append_frontier_divergent", By("tests/suite/tests/kept_resets.rs", "a_log_ahead_of_its_checkpoint_halts")),
    ("tenant_required", By("tests/suite/tests/tenancy.rs", "a_row_of_nobody_stops_before_anything_of_its_transaction_is_written")),
    ("tenant_resolution_failed", By("tests/suite/tests/tenancy_functions.rs", "a_function_that_cannot_tell_stops_with_the_side_and_without_a_value")),
    ("tenant_conflict", By("tests/suite/tests/tenancy_attacks.rs", "a_value_that_another_tenant_has_halts_and_its_row_is_not_touched")),
    ("tenant_scope_unknown", By("tests/suite/tests/tenancy_schemas.rs", "a_tenant_that_makes_no_name_of_a_schema_of_its_own_halts")),
    ("append_frontier_unavailable", By("tests/suite/tests/tenancy_schemas.rs", "a_log_in_schemas_of_tenants_does_not_start")),
    ("truncate_halt", By("tests/suite/tests/halts.rs", "a_truncate_stops_where_the_declaration_says_so")),
    ("schema_change_destructive", By("replicant-sink/src/apply/tests/stops.rs", "columns_that_came_or_went_stop_unless_declared")),
    ("type_modifier_widened", By("tests/suite/tests/halts.rs", "a_source_column_that_outgrows_its_mirror_stops_before_the_first_row_that_might_not_fit")),
    ("source_types_mixed", NotHere("transient: tests/suite/tests/schema_paths.rs changes types under a binary stream, which goes on as text")),
    ("row_key_missing", By("replicant-sink/src/apply/tests/stops.rs", "a_row_without_its_key_is_not_looked_for")),
    ("row_incomplete", By("replicant-sink/src/apply/tests/stops.rs", "an_absent_row_in_an_open_table_is_inserted_when_it_is_whole")),
    ("destination_diverged", By("tests/suite/tests/halts.rs", "rows_that_contradict_the_destination_stop_the_mirror_until_it_is_repaired")),
    ("destination_unique_conflict", By("tests/suite/tests/halts.rs", "a_refused_row_stops_the_mirror_exactly_before_its_transaction")),
    ("destination_foreign_key_violated", By("tests/suite/tests/halts.rs", "a_refused_row_stops_the_mirror_exactly_before_its_transaction")),
    ("destination_rejected", By("tests/suite/tests/halts.rs", "a_refused_row_stops_the_mirror_exactly_before_its_transaction")),
    ("destination_full", By("tests/suite/tests/halts.rs", "a_refused_row_stops_the_mirror_exactly_before_its_transaction")),
    ("destination_unreachable", By("tests/suite/tests/sessions.rs", "what_time_may_heal_is_tried_again_and_heals")),
    ("large_transaction_interrupted", NotHere("transient: the crash tests end the destination inside a large transaction")),
    ("destination_contended", By("tests/suite/tests/halts.rs", "contention_is_tried_again_six_times_and_then_stops")),
    ("destination_auth", By("tests/suite/tests/sessions.rs", "every_refused_login_says_which_side_and_why")),
    ("change_unsupported", By("replicant-sink/src/apply/tests/stops.rs", "policies_stop_by_name")),
    ("delivery_interrupted", NotHere("a bug in our own task; nothing outside can cause it")),
];
