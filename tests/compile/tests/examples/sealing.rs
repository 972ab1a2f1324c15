//! Cards whose numbers are sealed, and how a host opens one.

use replicant_sink::prelude::*;

#[replicant(
    source_table = "card", table = "card",
    sensitive(pan),                                    // must not be stored in the clear
    actions(read, destroy, create(accept = all), update(accept = all)),
)]
pub struct Card {
    #[replicant(primary_key)]
    pub id: i64,
    pub owner: String,
    #[replicant(encrypted)] // destination column encrypted_pan bytea
    pub pan: Option<Sealed<String>>,
}

#[replicant_domain(resources(Card))]
pub struct Cards;
#[replicant_checkpoint(schema = "replicant")]
pub struct CardCheckpoint;
#[replicant_sink(slot_name = "cards", domains(Cards), checkpoint = CardCheckpoint)]
pub struct CardSink;

pub fn pipeline() -> Pipeline {
    Pipeline::of::<CardSink>().vault(EnvironmentVault::new("CARD_KEYS"))
}

/// What the host does with a row it read from the mirror.
pub async fn pan(
    vault: &impl Vault,
    stored: &[u8],
) -> Result<Sealed<String>, Box<dyn std::error::Error>> {
    let keys = vault.keys().await?;
    let place = Place::of::<Card>("pan").ok_or("not sealed")?;
    Ok(Sealed::open(&keys, &place, None, stored)?)
}
