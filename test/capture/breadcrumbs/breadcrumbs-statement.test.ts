import { describe, expect, test } from 'vitest'
import { statementText } from '../../../src/model/sql/statement-text.js'

describe('statementText', () => {
  test.each([
    ["select * from users where name = 'o''brien' and age > 42", 'select * from users where name = ? and age > ?'],
    [String.raw`select 'C:\', 's3cr3t' from t`, 'select ?, ? from t'],
    [String.raw`select E'it\'s s3cr3t', 1.5e3 from t`, 'select ?, ? from t'],
    ['select $$s3cr3t$$, $tag$ s3cr3t $tag$, $1 from "t2"', 'select ?, ?, $1 from "t2"'],
    ['select "user"."email" /* s3cr3t */ from "user" -- s3cr3t', 'select "user"."email" from "user"'],
    ["insert into t values ('a s3cr3t that was cut o", 'insert into t values (?'],
    ['select\n  col1\nfrom table2\nlimit 10', 'select col1 from table2 limit ?'],
    ["select 'a' -- it's\n, 's3cr3t'", 'select ? , ?'],
    ['select * from t where id in (1, 2, 3, 4)', 'select * from t where id in (?, …)'],
    ["select data#>'{a,b}' from t where id = $12", 'select data#>? from t where id = $12'],
  ])('removes the values of a PostgreSQL statement: %s', (sql, text) => {
    expect(statementText(sql, 'postgres')).toBe(text)
    expect(statementText(sql, 'postgres')).toBe(text)
  })

  test.each([
    [String.raw`select * from users where name = 'it\'s s3cr3t'`, 'select * from users where name = ?'],
    ['select * from `users 2` where name = "s3cr3t"', 'select * from `users 2` where name = ?'],
    [String.raw`insert into t values ('s3cr3t\\', 0x1F, 'b')`, 'insert into t values (?, …)'],
    ['select 1 # s3cr3t', 'select ?'],
    [String.raw`select "s3cr3t that was cut off at a \ `.trim(), 'select ?'],
  ])('removes the values of a MySQL statement: %s', (sql, text) => {
    expect(statementText(sql, 'mysql')).toBe(text)
  })

  test('limits the length of a statement', () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => `(${i}, 's3cr3t')`).join(', ')
    const text = statementText(`insert into t values ${rows}`, 'mysql')
    expect(text.length).toBeLessThan(2000)
    expect(text).not.toContain('s3cr3t')
  })
})
