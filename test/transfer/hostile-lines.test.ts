import { expect, test } from 'vitest'
import type { Line, Rejection } from '../../src/transfer/import-records.js'
import { deleteOrphanedMarkers } from '../../src/transfer/orphaned-markers.js'
import type { ExportedLine } from '../../src/transfer/record.js'
import { hostAt } from '../support/databases/lived-in.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, withDatabase } from '../support/tracker.js'
import { contextAt } from '../triage/list-context.js'

type ErrorLine = Extract<ExportedLine, { kind: 'error' }>

describeEachDatabase('validation of occurrences', (database) => {
  test('accepts only the shapes that pages rely on and names the rejected field', async () => {
    const [application, good] = await exported(database)
    const crumb = { occurred_at: 1, category: 'custom', message: 'x' }
    const cause = { error_type: 'Inner', message: 'x', backtrace: ['at f (/a.js:1:1)'], relation: 'cause' }
    const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`)
    const odd = [5, 'x', null, [[]], { a: { b: 1 } }]
    const refused: [string, object][] = [
      ['context.request must be an object', { request: 'x' }],
      ['context.tags must be an object', { tags: [] }],
      ['context.context must be an object', { context: null }],
      ['context.breadcrumbs must be a list', { breadcrumbs: {} }],
      ['context.breadcrumbs.0 must be an object', { breadcrumbs: [null] }],
      [
        'context.breadcrumbs.0.occurred_at must be a timestamp in milliseconds',
        { breadcrumbs: [{ ...crumb, occurred_at: 1e18 }] },
      ],
      ['context.breadcrumbs.0.message must be a string', { breadcrumbs: [{ ...crumb, message: {} }] }],
      ['nested deeper than 64 levels', { other: deep }],
    ]
    const lines = [
      ...refused.map(([, context], i) => line(good, i, { context })),
      line(good, 10, {}, { causes: [{}] }),
      line(good, 11, {}, { causes: [{ ...cause, causes: [{ ...cause, backtrace: 'x' }] }] }),
      application,
      // Accepts any value in fields that pages only display.
      ...odd.map((value, i) =>
        line(good, 20 + i, { context: shown(value) }, { causes: [{ ...cause, causes: [cause] }] }),
      ),
      line(good, 30, { context: { request: {}, tags: {}, context: { __proto__: 1 }, breadcrumbs: [crumb] } }),
    ]
    const host = await hostAt(await database.fresh())
    const rejections: Rejection[] = []
    const reject = (rejection: Rejection) => void rejections.push(rejection)
    const imported = await host.tracker.Commands.ImportErrors.call({ lines: numbered(lines), reject })
    expect(imported).toMatchObject({ created: odd.length + 1, rejected: refused.length + 2 })
    for (const [i, [sentence]] of refused.entries()) expect(rejections[i]?.reason).toContain(sentence)
    expect(rejections.at(-2)?.reason).toContain('payloads.0.causes.0.error_type is missing')
    expect(rejections.at(-1)?.reason).toContain('causes.0.causes.0.backtrace must be a list')
    for (const { id } of await host.tracker.Queries.ErrorsList.call({ per_page: 100 })) {
      expect([id, (await host.get(`/errors/${id}`)).status]).toEqual([id, 200])
    }
    await host.close()
  })
})

describeEachDatabase('the daily cleanup', (database) => {
  test('deletes import markers of deleted errors', async () => {
    const lines = await exported(database)
    const { tracker, url, spool_path } = await freshTracker(database)
    await tracker.Commands.ImportErrors.call({ lines: numbered(lines) })
    const { context } = contextAt({ url, spool_path })
    const [first, second] = await tracker.Queries.ErrorsList.call()
    expect(await notes(url)).toHaveLength(2)
    await deleteOrphanedMarkers(context)
    expect(await notes(url)).toHaveLength(2)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [first?.id ?? 0] })
    await deleteOrphanedMarkers(context)
    expect(await notes(url)).toEqual([expect.stringContaining(`imported ${second?.id} `)])
    expect(await tracker.Commands.ImportErrors.call({ lines: numbered(lines) })).toMatchObject({ created: 1, known: 1 })
  })
})

async function exported(database: Parameters<typeof freshTracker>[0]): Promise<[ExportedLine, ErrorLine, ErrorLine]> {
  const { tracker } = await freshTracker(database)
  for (const error_type of ['One', 'Two']) {
    await tracker.Commands.LogError.call({ error_type, message: 'x', backtrace: ['at f (/srv/a.js:1:1)'] })
  }
  const lines: ExportedLine[] = []
  for await (const line of tracker.Queries.ExportErrors.records()) lines.push(line)
  return lines as [ExportedLine, ErrorLine, ErrorLine]
}

/** Another error, whose only occurrence is changed. */
function line(good: ErrorLine, number: number, occurrence: object, payload: object = {}): object {
  const hash_signature = String(number).padStart(64, '0')
  return {
    ...good,
    origins: [hash_signature.slice(32)],
    error: { ...good.error, hash_signature },
    payloads: good.payloads.map((entry) => ({ ...entry, ...payload })),
    occurrences: good.occurrences.map((entry) => ({ ...entry, ...occurrence })),
  }
}

function shown(value: unknown): object {
  const names = ['request_params', 'process', 'system_health', 'local_variables', 'code', 'source', 'trace_id', 'other']
  return Object.fromEntries(names.map((name) => [name, value]))
}

async function* numbered(lines: readonly object[]): AsyncGenerator<Line> {
  for (const [i, line] of lines.entries()) yield { number: i + 1, text: JSON.stringify(line) }
}

function notes(url: string): Promise<string[]> {
  return withDatabase(url, async ({ read }) => {
    const rows = await read.selectFrom('faultboard_leases').select('name').where('name', 'like', 'imported %').execute()
    return rows.map(({ name }) => name)
  })
}
