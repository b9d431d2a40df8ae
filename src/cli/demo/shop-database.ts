import { loadSqlite } from '../../store/dialects/sqlite-library.js'
import type { TrackerInstance } from '../../tracker.js'
import { FIRST_USER, USER_COUNT } from './people.js'

/** In-memory database of the shop. Adds a breadcrumb for each statement, as an instrumented driver does. */
export interface ShopDatabase {
  query(statement: string, ...values: unknown[]): Record<string, unknown>[]
  close(): void
}

interface Handle {
  exec(sql: string): void
  prepare(sql: string): { all(...values: unknown[]): Record<string, unknown>[] }
  close(): void
}

export async function openShopDatabase(tracker: TrackerInstance): Promise<ShopDatabase> {
  const { DatabaseSync } = await loadSqlite()
  const handle = new DatabaseSync(':memory:') as unknown as Handle
  handle.exec(SCHEMA)
  return {
    query: function query(statement, ...values) {
      const started = performance.now()
      try {
        return handle.prepare(statement).all(...values)
      } catch (error) {
        // Starts the stack in the shop, because this file is not part of it.
        if (error instanceof Error) Error.captureStackTrace(error, query)
        throw error
      } finally {
        const duration_ms = Math.round((performance.now() - started) * 100) / 100
        tracker.addBreadcrumb({ category: 'sql', message: statement, metadata: { system: 'sqlite', duration_ms } })
      }
    },
    close: () => handle.close(),
  }
}

/** Every fifth cart contains a product that is no longer sold. Every customer has eight past orders. */
const SCHEMA = `
create table products (sku text primary key, name text not null, price integer not null);
insert into products values
  ('TEA-1001', 'Green tea', 490), ('OIL-1002', 'Olive oil', 1290), ('JAM-1003', 'Fig jam', 540), ('RYE-1004', 'Rye bread', 380),
  ('NUT-1005', 'Roasted almonds', 720), ('HON-1006', 'Chestnut honey', 890), ('PAS-1007', 'Fresh pasta', 450), ('SAL-1008', 'Sea salt', 310);
create table customers (user_id text primary key, number integer not null);
with recursive numbers(number) as (select ${FIRST_USER} union all select number + 1 from numbers where number < ${FIRST_USER + USER_COUNT})
insert into customers select 'usr_' || number, number from numbers;
create table accounts (user_id text, email text, password_hash text, attempts integer not null, preferences text);
insert into accounts select user_id, user_id || '@example.com', 'hash', number % 3 * 6, null from customers;
create table cart_lines (user_id text not null, sku text not null, quantity integer not null);
insert into cart_lines select user_id, case when number % 5 = 0 then 'JAM-0999' else 'JAM-1003' end, 2 from customers;
insert into cart_lines select user_id, 'RYE-1004', 1 from customers;
insert into cart_lines values ('guest', 'JAM-0999', 2);
create table orders (id integer, user_id text, total integer not null, slot text not null);
create table past_orders (id integer primary key, user_id text not null, total integer not null, sku text not null);
insert into past_orders (user_id, total, sku) select user_id, 1000 + price * 2, sku from customers, products;
`
