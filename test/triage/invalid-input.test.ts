import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TrackerError } from '../../src/model/errors.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, withDatabase } from '../support/tracker.js'

type Command = Exclude<keyof TrackerInstance['Commands'], 'LogError'>

/** Valid input, and per field invalid values with their messages. */
const COMMANDS: Partial<
  Record<Command, { valid: object; invalid: [field: string, value: unknown, message: string][] }>
> = {
  ResolveError: {
    valid: { resolved_by: 'Anna' },
    invalid: [
      ['resolved_by', 'x'.repeat(256), 'must not be longer than 255 characters'],
      ['resolved_by', 5, 'must be a string'],
      ['resolution_comment', 'x'.repeat(10_001), 'must not be longer than 10000 characters'],
      ['resolution_comment', ['a'], 'must be a string'],
      ['resolution_reference', 'x'.repeat(2001), 'must not be longer than 2000 characters'],
    ],
  },
  AssignError: {
    valid: { assigned_to: 'anna@shop.example' },
    invalid: [
      ['assigned_to', undefined, 'is missing'],
      ['assigned_to', '', 'must not be empty'],
      ['assigned_to', '  ', 'must not be empty'],
      ['assigned_to', null, 'must be a string'],
      ['assigned_to', { a: 1 }, 'must be a string'],
      ['assigned_to', 'x'.repeat(256), 'must not be longer than 255 characters'],
      ['actor', 'x'.repeat(256), 'must not be longer than 255 characters'],
    ],
  },
  UnassignError: { valid: {}, invalid: [] },
  UpdatePriority: {
    valid: { priority_level: 3 },
    invalid: [undefined, '', -1, 5, 1.5, 'high', Number.NaN, 1e308, [1], null, true].map((value) => [
      'priority_level',
      value,
      value === undefined ? 'is missing' : 'must be a whole number from 0 to 4',
    ]),
  },
  SnoozeError: {
    valid: { hours: 5 },
    invalid: [
      ...[undefined, '', 0, -1, 8761, 1.5, 'soon', '1e309', ['5'], null].map((value): [string, unknown, string] => [
        'hours',
        value,
        value === undefined ? 'is missing' : 'must be a whole number from 1 to 8760',
      ]),
      ['reason', 'x'.repeat(10_001), 'must not be longer than 10000 characters'],
    ],
  },
  UnsnoozeError: { valid: {}, invalid: [] },
  UpdateStatus: {
    valid: { status: 'investigating' },
    invalid: [
      ...[undefined, '', 'open', 'RESOLVED', 'constructor', 5, null, ['new']].map(
        (value): [string, unknown, string] => [
          'status',
          value,
          value === undefined ? 'is missing' : 'must be one of new, investigating, in_progress, resolved, wont_fix',
        ],
      ),
      ['comment', 'x'.repeat(10_001), 'must not be longer than 10000 characters'],
    ],
  },
  AddComment: {
    valid: { author_name: 'Anna', body: 'Hello' },
    invalid: [
      ['author_name', undefined, 'is missing'],
      ['author_name', '', 'must not be empty'],
      ['author_name', 'x'.repeat(256), 'must not be longer than 255 characters'],
      ['body', undefined, 'is missing'],
      ['body', ' \n ', 'must not be empty'],
      ['body', 'x'.repeat(10_001), 'must not be longer than 10000 characters'],
      ['body', 5, 'must be a string'],
    ],
  },
}

const INVALID_IDS: [unknown, string][] = [
  [undefined, 'error_id is missing'],
  [null, 'error_id must be a record id'],
  ['', 'error_id must be a record id'],
  ['abc', 'error_id must be a record id'],
  ["1' or 1=1", 'error_id must be a record id'],
  [[1], 'error_id must be a record id'],
  [Number.NaN, 'error_id must be a record id'],
  [0, 'error_id must be a positive whole number'],
  [-1, 'error_id must be a positive whole number'],
  [1.5, 'error_id must be a positive whole number'],
  [1e300, 'error_id must be a positive whole number'],
]

describeEachDatabase('validation of commands', (database) => {
  async function setUp() {
    const { tracker, url } = await freshTracker(database)
    const error_id = (await tracker.Commands.LogError.call({ error_type: 'CartError', message: 'Empty' }))?.id ?? 0
    // Creates something to remove.
    await tracker.Commands.AssignError.call({ error_id, assigned_to: 'previous assignee' })
    await tracker.Commands.SnoozeError.call({ error_id, hours: 1 })
    const commands: Record<Command, { call(input: never): Promise<unknown> }> = tracker.Commands
    const call = (name: Command, input: unknown) => commands[name].call(input as never).then(() => 'done', problem)
    return { tracker, url, error_id, call }
  }
  const problem = (error: TrackerError) => `${error.code}: ${error.message}`

  test.each(Object.entries(COMMANDS))(
    'rejects invalid input of %s without changes',
    async (name, { valid, invalid }) => {
      const { url, error_id, call } = await setUp()
      const before = await everything(url)
      for (const [field, value, message] of invalid)
        expect(await call(name as Command, { error_id, ...valid, [field]: value })).toBe(
          `invalid_input: ${field} ${message}`,
        )
      for (const [value, message] of INVALID_IDS)
        expect(await call(name as Command, { ...valid, error_id: value })).toBe(`invalid_input: ${message}`)
      for (const unknown of [error_id + 1, Number.MAX_SAFE_INTEGER])
        expect(await call(name as Command, { ...valid, error_id: unknown })).toMatch(/^not_found: .* id \d+/)
      for (const input of ['text', 5, true])
        expect(await call(name as Command, input)).toMatch(/^invalid_input: the input/)
      expect(await everything(url)).toEqual(before)
      expect(await call(name as Command, { error_id, ...valid })).toBe('done')
      expect(await everything(url)).not.toEqual(before)
    },
  )

  test('rejects invalid input of BatchResolveErrors and BatchDeleteErrors without changes', async () => {
    const { url, error_id, call } = await setUp()
    const before = await everything(url)
    for (const name of ['BatchResolveErrors', 'BatchDeleteErrors'] as const) {
      for (const [error_ids, message] of [
        [undefined, 'error_ids is missing'],
        [[], 'error_ids must contain at least one error id'],
        [error_id, 'error_ids must be a list of error ids'],
        ['1', 'error_ids must be a list of error ids'],
        [[error_id, 'abc'], 'error_ids.1 must be a record id'],
        [[error_id, -1], 'error_ids.1 must be a positive whole number'],
        [Array.from({ length: 1001 }, (_, i) => i + 1), 'error_ids must not contain more than 1000 error ids'],
      ] as const)
        expect(await call(name, { error_ids })).toBe(`invalid_input: ${message}`)
    }
    expect(await everything(url)).toEqual(before)
  })

  test('rejects invalid input of CleanupErrors without changes', async () => {
    const { call } = await setUp()
    for (const retention_days of [0, -1, 1.5, 'soon', 1e9, [1]])
      expect(await call('CleanupErrors', { retention_days })).toBe(
        'invalid_input: retention_days must be a whole number from 1 to 36500',
      )
  })

  test('stores NUL and lone surrogates in a form that every database accepts', async () => {
    const { tracker, error_id } = await setUp()
    const text = 'a\0b\uD800'
    await tracker.Commands.AssignError.call({ error_id, assigned_to: text, actor: text })
    await tracker.Commands.ResolveError.call({
      error_id,
      resolved_by: text,
      resolution_comment: text,
      resolution_reference: text,
    })
    await tracker.Commands.SnoozeError.call({ error_id, hours: 1, reason: text })
    await tracker.Commands.AddComment.call({ error_id, author_name: text, body: text })
    const clean = 'a\uFFFDb\uFFFD'
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({
      assigned_to: clean,
      resolved_by_name: clean,
      resolution_comment: clean,
      resolution_reference: clean,
      snooze_reason: clean,
      comments: [{ author_name: clean, body: clean }],
    })
  })

  test('accepts names of the maximum length in any alphabet', async () => {
    const { tracker, error_id } = await setUp()
    const name = '漢'.repeat(255)
    await tracker.Commands.AssignError.call({ error_id, assigned_to: name, actor: name })
    expect((await tracker.Queries.FindError.call({ error_id })).assigned_to).toBe(name)
  })
})

async function everything(url: string): Promise<unknown> {
  return withDatabase(url, async ({ read }) => {
    const tables = ['errors', 'comments', 'activities', 'occurrences', 'application_hours']
    return Promise.all(
      tables.map(async (name) => (await sql`select * from ${sql.table(`faultboard_${name}`)}`.execute(read)).rows),
    )
  })
}
