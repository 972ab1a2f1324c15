-- Written by `replicant migrations`: undoes the migration of the same name.

-- table "public"."mail_outbox": created
drop table "public"."mail_outbox";

-- schema "replicant": claims of messages kept
drop table "replicant".replicant_claims;

-- schema "replicant": checkpoint created
<drop_ddl of the checkpoint>;
