import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FrameVariables } from '../../../../src/model/stacks/frame-variables.js'
import type { Settings } from '../../../../src/options.js'
import { startHost } from '../../../support/host.js'
import { HOSTILE_MARKUP } from '../../../support/hostile.js'
import { temporaryFolder, withDatabase } from '../../../support/tracker.js'

const BACKTRACE = [
  'at Cart.total (src/cart.ts:12:5)',
  'at pay (src/pay.ts:3:1)',
  'at x (/node_modules/express/x.js:1:1)',
]

const TOTAL: FrameVariables = {
  ...{ function: 'total', file: 'src/cart.ts', line_number: 12 },
  variables: { discount: 250, note: '[undefined]', order: { '(type)': 'Order', id: 7, '(more)': '3 more' } },
  instance_variables: { '(type)': 'Cart', currency: 'EUR', password: '[FILTERED]' },
}

/** Page of an error recorded with these variables. */
async function pageOf(local_variables: unknown, settings: Settings = {}) {
  const database = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
  const host = await startHost(database, settings)
  const logged = await host.tracker.Commands.LogError.call({
    ...{ error_type: 'CartError', message: 'm', backtrace: BACKTRACE },
  })
  const context = JSON.stringify({ local_variables })
  await withDatabase(database, (db) =>
    db.write((trx) => trx.updateTable('faultboard_occurrences').set({ context }).execute()),
  )
  const text = await (await host.get(`/errors/${logged?.id}`)).text()
  const json = await host.json(`/errors/${logged?.id}.json`)
  await host.close()
  return { text, json: json as unknown as { error: { details: { local_variables: unknown } } } }
}

describe('the page of an error', () => {
  test('shows the variables of a frame within the stack', async () => {
    const { text } = await pageOf([TOTAL])
    const stack = text.slice(text.indexOf('stack-title'), text.indexOf('Raw</summary>'))
    expect(stack).toMatch(/Cart\.total.*class="variables" open.*discount<\/span> <code[^>]*>250<.*src\/pay\.ts/s)
    expect(stack).toMatch(/note<\/span> <code class="mark muted">\[undefined\]</)
    expect(stack).toMatch(/order<\/span> <span class="muted">Order \{1\}<.*id<\/span> <code[^>]*>7<.*… 3 more/s)
    expect(stack).toMatch(/<code>this<\/code> <span class="muted">Cart<.*currency.*EUR.*password.*\[FILTERED\]/s)
    expect(text).not.toContain('variables-title')
  })

  test('shows variables of a frame outside the stack in a panel', async () => {
    const { text } = await pageOf([TOTAL, { ...TOTAL, function: 'refund', file: 'src/refund.ts', line_number: 4 }])
    const start = text.indexOf('variables-title')
    const panel = text.slice(start, text.indexOf('</section>', start))
    expect(panel).toMatch(/src\/refund\.ts:4 in refund.*discount/s)
    expect(panel).not.toContain('src/cart.ts')
  })

  test.each([
    ['always', /No variables captured for this occurrence.*The error was not thrown by in-app code/s],
    ['adaptive', /the first occurrence has no variables/],
  ] as const)('explains why there are no variables in %s mode', async (local_variable_mode, why) => {
    const { text } = await pageOf(undefined, { enable_local_variables: true, local_variable_mode })
    const stack = text.slice(text.indexOf('stack-title'), text.indexOf('Raw</summary>'))
    expect(stack).toMatch(why)
    expect(text).not.toContain('variables-title')
  })

  test('shows no variables while the feature is off', async () => {
    const { text } = await pageOf(undefined)
    expect(text).not.toContain('variables-title')
  })

  test('includes variables in the JSON', async () => {
    const { json } = await pageOf([TOTAL])
    expect(json.error.details.local_variables).toEqual([TOTAL])
  })

  test('renders hostile names, values, types and locations as text', async () => {
    const evil = {
      [HOSTILE_MARKUP]: HOSTILE_MARKUP,
      nested: { '(type)': HOSTILE_MARKUP, '(more)': HOSTILE_MARKUP, [HOSTILE_MARKUP]: [HOSTILE_MARKUP] },
    }
    const { text } = await pageOf([
      { ...TOTAL, variables: evil, instance_variables: evil },
      { function: HOSTILE_MARKUP, file: HOSTILE_MARKUP, line_number: 1, variables: evil },
    ])
    expect(text).not.toMatch(/<img|<script>document/)
    expect(text).toContain('&lt;img src=x onerror')
  })
})
