use replicant_sink::prelude::*;

struct WithReceipt;

impl Hook for WithReceipt {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(_: &mut Changeset<'_>, _: &mut Actions<'_>) -> Result<(), HookError> {
        Ok(())
    }
}

#[replicant(table = "payments", actions(read, destroy, create(accept = all, changes(WithReceipt), touches(Receipt))))]
struct Payment {
    #[replicant(primary_key)]
    id: i64,
}

#[replicant(auxiliary, table = "receipts", actions(create(record, accept(payment_id))))]
struct Receipt {
    #[replicant(primary_key, generated)]
    id: i64,
    payment_id: i64,
}

#[replicant_domain(resources(Payment))]
struct Payments;

#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)] //~ destination_participant_unknown Payments
struct Sink;
