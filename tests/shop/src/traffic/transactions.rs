//! Which transactions does the shop run, and how often each?

use super::values::{amount, document, instant, maybe_text, price, quote, text};
use super::{Order, Outcome, Plan, Traffic};

impl Traffic {
    /// The next transaction. Shapes are drawn by weight; one that needs a row that does not exist opens an account
    /// instead.
    pub(super) fn plan(&mut self) -> Plan {
        let mut plan = Plan::default();
        match self.rng.u8(..100) {
            0..26 => self.place_order(&mut plan),
            26..36 => self.new_customer(&mut plan),
            36..49 => self.edit_customer(&mut plan),
            49..61 => self.ship_order(&mut plan),
            61..70 => self.cancel_order(&mut plan),
            70..77 => self.reprice(&mut plan),
            77..81 => self.new_product(&mut plan),
            81..84 => self.change_customer_key(&mut plan),
            84..87 => self.renumber_lines(&mut plan),
            87..92 => self.with_savepoints(&mut plan),
            92..95 => self.rewrite_one_row(&mut plan),
            95..97 => self.swap_emails(&mut plan),
            97..98 => self.audit(&mut plan),
            _ => self.change_of_mind(&mut plan),
        }
        if plan.sql.is_empty() {
            self.new_customer(&mut plan);
        }
        plan
    }

    pub(super) fn new_customer(&mut self, plan: &mut Plan) {
        let id = self.fresh_uuid();
        plan.then(1, &self.insert_customer(&id));
        self.customers.push(id);
    }

    pub(super) fn new_product(&mut self, plan: &mut Plan) {
        let id = self.next_product;
        self.next_product += 1;
        let sku = self.fresh_uuid();
        let rng = &mut self.rng;
        let stock = match rng.u16(..500) {
            0..50 => "null".to_owned(),
            stock => stock.to_string(),
        };
        let statement = format!(
            "insert into products values ({id}, '{sku}', {}, {stock}, {}, {}, {}, {})",
            text(rng),
            price(rng),
            rng.bool(),
            instant(rng),
            document(rng)
        );
        plan.then(1, &statement);
        self.products.push(id);
    }

    fn insert_customer(&mut self, id: &str) -> String {
        let email = quote(&self.fresh_email());
        let rng = &mut self.rng;
        format!(
            "insert into customers values ('{id}', {email}, {}, {}, {}, {}, {})",
            text(rng),
            amount(rng),
            document(rng),
            instant(rng),
            maybe_text(rng)
        )
    }

    /// Four tables, parents and children, counters of the parents.
    fn place_order(&mut self, plan: &mut Plan) {
        let customer = self.customer();
        let Some(customer) = self.customers.get(customer).cloned() else {
            return;
        };
        let id = self.fresh_uuid();
        let lines = self.rng.i32(1..7);
        let total = price(&mut self.rng);
        let details = document(&mut self.rng);
        plan.then(
            1,
            &format!(
                "insert into orders values ('{id}', '{customer}', 'placed', {total}, \
                 pg_catalog.clock_timestamp(), null, {details})"
            ),
        );
        for line in 1..=lines {
            let Some(product) = self.rng.choice(&self.products).copied() else {
                return;
            };
            let unit = price(&mut self.rng);
            let quantity = self.rng.i64(1..100);
            let remark = maybe_text(&mut self.rng);
            plan.then(
                1,
                &format!(
                    "insert into order_lines values ('{id}', {line}, {product}, {quantity}, {unit}, {remark})"
                ),
            );
            plan.then(
                1,
                &format!(
                    "update products set stock = coalesce(stock, 100) - 1 where id = {product}"
                ),
            );
        }
        plan.then(
            1,
            &format!("update customers set credit = credit - 1 where id = '{customer}'"),
        );
        self.orders.push(Order {
            id,
            lines: (1..=lines).collect(),
        });
    }

    /// Leaves the large document alone, so the source does not send it.
    fn edit_customer(&mut self, plan: &mut Plan) {
        let index = self.customer();
        let Some(id) = self.customers.get(index) else {
            return;
        };
        let rng = &mut self.rng;
        let statement = format!(
            "update customers set name = {}, credit = {}, note = {} where id = '{id}'",
            text(rng),
            amount(rng),
            maybe_text(rng)
        );
        plan.then(1, &statement);
    }

    fn ship_order(&mut self, plan: &mut Plan) {
        let Some(order) = self.rng.choice(&self.orders) else {
            return;
        };
        plan.then(
            1,
            &format!(
                "update orders set status = 'shipped', shipped_at = pg_catalog.now() where id = '{}'",
                order.id
            ),
        );
    }

    /// Children first, then the parent.
    fn cancel_order(&mut self, plan: &mut Plan) {
        if self.orders.is_empty() {
            return;
        }
        let index = self.rng.usize(..self.orders.len());
        let order = self.orders.swap_remove(index);
        let lines = u64::try_from(order.lines.len()).unwrap_or(0);
        plan.then(
            lines,
            &format!("delete from order_lines where order_id = '{}'", order.id),
        );
        plan.then(1, &format!("delete from orders where id = '{}'", order.id));
    }

    fn reprice(&mut self, plan: &mut Plan) {
        let count = self.rng.usize(1..20).min(self.products.len());
        let products = self
            .rng
            .choose_multiple(self.products.iter().copied(), count);
        for id in products {
            let price = price(&mut self.rng);
            plan.then(
                1,
                &format!(
                    "update products set price = {price}, updated_at = pg_catalog.now() where id = {id}"
                ),
            );
        }
    }

    /// The orders follow by cascade on the source; the mirror sees them as updates of their own.
    fn change_customer_key(&mut self, plan: &mut Plan) {
        let index = self.customer();
        let new = self.fresh_uuid();
        let Some(id) = self.customers.get_mut(index) else {
            return;
        };
        plan.then(
            1,
            &format!("update customers set id = '{new}' where id = '{id}'"),
        );
        *id = new;
    }

    fn renumber_lines(&mut self, plan: &mut Plan) {
        if self.orders.is_empty() {
            return;
        }
        let index = self.rng.usize(..self.orders.len());
        let step = self.rng.i32(10..1000);
        let Some(order) = self.orders.get_mut(index) else {
            return;
        };
        for line in &mut order.lines {
            let new = line.saturating_add(step);
            plan.then(
                1,
                &format!(
                    "update order_lines set line_no = {new} where order_id = '{}' and line_no = {line}",
                    order.id
                ),
            );
            *line = new;
        }
    }

    /// What happens after a savepoint that is rolled back never happened, and the mirror must not see it.
    fn with_savepoints(&mut self, plan: &mut Plan) {
        self.new_customer(plan);
        plan.then(0, "savepoint a");
        let never = self.fresh_uuid();
        let statement = self.insert_customer(&never);
        plan.then(0, &statement);
        plan.then(
            0,
            "update products set active = not active where id % 7 = 0",
        );
        plan.then(0, "rollback to savepoint a");
        plan.then(0, "savepoint b");
        self.new_product(plan);
        plan.then(0, "release savepoint b");
        self.edit_customer(plan);
    }

    /// Insert, update, delete and insert of one key in one transaction: only the last image counts.
    fn rewrite_one_row(&mut self, plan: &mut Plan) {
        let id = self.fresh_uuid();
        plan.then(1, &self.insert_customer(&id));
        plan.then(
            1,
            &format!("update customers set note = 'soon gone' where id = '{id}'"),
        );
        plan.then(1, &format!("delete from customers where id = '{id}'"));
        plan.then(1, &self.insert_customer(&id));
        plan.then(
            1,
            &format!("update customers set credit = credit + 1 where id = '{id}'"),
        );
        self.customers.push(id);
    }

    /// Two rows exchange a unique value; no order of their final images avoids a conflict row by row.
    fn swap_emails(&mut self, plan: &mut Plan) {
        let (one, two) = (self.customer(), self.customer());
        let (Some(one), Some(two)) = (self.customers.get(one), self.customers.get(two)) else {
            return;
        };
        if one == two {
            return;
        }
        let parked = quote(&format!("parked-{one}"));
        let statement = format!(
            "with before as (select email from customers where id = '{one}') \
             update customers set note = (select email from before) where id = '{two}'"
        );
        plan.then(1, &statement);
        plan.then(
            1,
            &format!("update customers set email = {parked} where id = '{one}'"),
        );
        plan.then(
            1,
            &format!(
                "update customers set email = (select note from customers where id = '{two}'), \
                 note = email where id = '{two}'"
            ),
        );
        plan.then(
            1,
            &format!(
                "update customers set email = (select note from customers where id = '{two}') \
                 where id = '{one}'"
            ),
        );
    }

    /// A table that is published and not mirrored.
    fn audit(&mut self, plan: &mut Plan) {
        let what = text(&mut self.rng);
        plan.then(
            0,
            &format!("insert into audit_events values (pg_catalog.now(), {what})"),
        );
    }

    /// Everything is rolled back; the mirror must not see a thing.
    fn change_of_mind(&mut self, plan: &mut Plan) {
        let never = self.fresh_uuid();
        let statement = self.insert_customer(&never);
        plan.then(1, &statement);
        let own = self.own_products();
        plan.then(
            1,
            &format!("update products set price = price + 1 where id % 11 = 0 and {own}"),
        );
        plan.outcome = Outcome::Rollback;
    }

    /// Sessions that update each other's rows in different orders would deadlock.
    fn own_products(&self) -> String {
        let first = i64::from(self.session) * 1_000_000_000;
        format!("id between {first} and {}", first + 999_999_999)
    }
}
