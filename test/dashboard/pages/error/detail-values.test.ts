import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ValueTree } from '../../../../src/dashboard/ui/values/value-tree.js'
import { startHost } from '../../../support/host.js'
import { temporaryFolder, withDatabase } from '../../../support/tracker.js'

describe('the value tree', () => {
  const shown = (value: unknown) => String(ValueTree({ value }))

  test('shows every kind of value after its name', () => {
    const text = shown({ name: 'eve', count: 3, on: true, none: null, list: [1, 'two'], empty: {}, nothing: [] })
    expect(text).toMatch(/name<\/span> <code[^>]*>&quot;eve&quot;/)
    expect(text).toMatch(/count<\/span> <code[^>]*>3</)
    expect(text).toMatch(/on<\/span> <code[^>]*>true</)
    expect(text).toMatch(/none<\/span> <code[^>]*>null</)
    expect(text).toMatch(/list<\/span> <span class="muted">\[2\]/)
    expect(text).toMatch(/empty<\/span> <code[^>]*>\{\}</)
    expect(text).toMatch(/nothing<\/span> <code[^>]*>\[\]</)
  })

  test.each(['text', 7, null, [1]])('accepts a value that is not an object: %j', (value) => {
    expect(shown(value)).toContain('<ul class="tree">')
  })

  test('shows hostile names and values as text', () => {
    const text = shown(JSON.parse('{"__proto__":{"<img src=x>":"</code><script>alert(1)</script>"}}'))
    expect(text).toContain('__proto__')
    expect(text).toContain('&lt;img src=x&gt;')
    expect(text).not.toMatch(/<img|<script/)
  })

  test('stops at the limit and shows how many values are omitted', () => {
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, { value: i }]))
    const text = shown(wide)
    expect(text.match(/<li/g)?.length).toBeLessThan(900)
    expect(text).toContain('… 600 more')
  })
})

test('shows the variables of an occurrence separately from its other details', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
  const host = await startHost(database)
  const logged = await host.tracker.Commands.LogError.call({ error_type: 'CartError', message: 'm', backtrace: [] })
  const context = JSON.stringify({ local_variables: { order: { total: 12 } }, environment: 'staging' })
  await withDatabase(database, (db) =>
    db.write((trx) => trx.updateTable('faultboard_occurrences').set({ context }).execute()),
  )
  const text = await (await host.get(`/errors/${logged?.id}`)).text()
  await host.close()
  expect(text).toMatch(
    /<h2 id="variables-title">Variables<\/h2>.*order.*total<\/span> <code[^>]*>12<.*Capture<.*Environment<.*staging</s,
  )
  expect(text.slice(text.indexOf('capture-title'))).not.toContain('local_variables')
})
