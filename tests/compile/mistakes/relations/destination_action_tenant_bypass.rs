use replicant_sink::prelude::*;

struct WithReceipt;

impl Hook for WithReceipt {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(_: &mut Changeset<'_>, _: &mut Actions<'_>) -> Result<(), HookError> {
        Ok(())
    }
}

#[replicant(table = "payments", multitenancy(strategy = attribute, attribute = org_id), tenant_attribute = org_id, actions(read, destroy, create(accept = all, changes(WithReceipt), touches(Receipt))))]
struct Payment {
    #[replicant(primary_key)]
    id: i64,
    org_id: i64,
}

#[replicant(auxiliary, table = "receipts", multitenancy(strategy = attribute, attribute = org_id), actions(create(record, accept(payment_id, org_id), multitenancy = bypass)))]
struct Receipt {
    #[replicant(primary_key, generated)]
    id: i64,
    payment_id: i64,
    org_id: i64,
}

#[replicant_domain(resources(Payment, Receipt))]
struct Payments;

#[replicant_checkpoint(schema = "replicant")]
struct Checkpoint;

#[replicant_sink(slot_name = "shop", domains(Payments), checkpoint = Checkpoint)] //~ destination_action_tenant_bypass Payments
struct Sink;
