//! Hooks: a validation, a pure change, and one that runs a declared action in the delivery transaction.

use replicant_sink::prelude::*;

/// Refuses what must not be.
pub struct NotNegative;

impl Validation for NotNegative {
    fn validate(changeset: &Changeset<'_>) -> Result<(), HookError> {
        match changeset.get(Payment::COLUMNS.amount)? {
            0.. => Ok(()),
            _ => Err(HookError::new("amount_negative")),
        }
    }
}

/// Changes a row, and touches nothing else.
pub struct Trimmed;

impl Change for Trimmed {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let note = changeset.get(Payment::COLUMNS.note)?;
        changeset.set(
            Payment::COLUMNS.note,
            note.map(|note| note.trim().to_owned()),
        )
    }
}

/// Records a receipt beside each payment.
pub struct WithReceipt;

impl Hook for WithReceipt {
    const PARTICIPANTS: &'static [ActionRef] = &[Receipt::ACTIONS.record];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let receipt = Values::new()
            .with(
                Receipt::COLUMNS.payment_id,
                &changeset.get(Payment::COLUMNS.id)?,
            )
            .with(
                Receipt::COLUMNS.amount,
                &changeset.get(Payment::COLUMNS.amount)?,
            );
        actions.run(Receipt::ACTIONS.record, receipt).await
    }
}

#[replicant(
    table = "payments",
    actions(
        read,
        destroy,
        create(accept = all, changes(Trimmed, WithReceipt), validations(NotNegative), touches(Receipt)),
    ),
)]
pub struct Payment {
    #[replicant(primary_key)]
    pub id: i64,
    pub amount: i64,
    pub note: Option<String>,
}

/// No source table feeds it: only the hook writes it.
#[replicant(
    auxiliary,
    table = "receipts",
    actions(read, create(record, accept(payment_id, amount)))
)]
pub struct Receipt {
    #[replicant(primary_key, generated)]
    pub id: i64,
    pub payment_id: i64,
    pub amount: i64,
}

#[replicant_domain(resources(Payment, Receipt))]
pub struct Payments;

#[replicant_checkpoint(schema = "replicant")]
pub struct PaymentsCheckpoint;

#[replicant_sink(slot_name = "payments", domains(Payments), checkpoint = PaymentsCheckpoint)]
pub struct PaymentsSink;
