//! Which statements create the checkpoint?

use replicant_checkpoint::contract::sink::CheckpointSpec;
use replicant_checkpoint::store::Store;

use super::{Page, Writer};
use crate::run::Failure;

pub(super) fn page() -> Result<Page, Failure> {
    let spec = CheckpointSpec {
        schema: "replicant",
        select_grant: Some("ops"),
    };
    let store = Store::new(&spec).map_err(|error| Failure::Failed(error.to_string()))?;
    let mut page = Writer::titled(
        "Checkpoint tables",
        "What a first start creates in the destination for `#[replicant_checkpoint(schema = \"replicant\", grants(select = \"ops\"))]`.\n\
         It happens in one transaction, and a second start changes nothing.\n\
         Nobody but the owner and the named role is given anything, whatever ALTER DEFAULT PRIVILEGES says.",
    );
    page.line(&format!("\n```sql\n{}\n```", store.ddl().trim_end()));
    page.line(
        "\n## Claims\n\n\
         What `migrations` writes beside them for a sink with message actions; a start creates nothing of it.\n\
         A row says that the effect of one message happened, and holds no value of it.",
    );
    page.line(&format!("\n```sql\n{}\n```", store.claims_ddl().trim_end()));
    Ok(page.page("checkpoint.md"))
}
