import { expect, test } from 'vitest'
import type { Context } from '../../../src/context.js'
import { csvRow } from '../../../src/model/csv.js'
import { perform } from '../../../src/operation.js'
import { errorsPage, SORT_FIELDS } from '../../../src/triage/list/errors-list.js'
import { exportErrors } from '../../../src/triage/list/export-errors.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addGroups, listContext } from '../list-context.js'

const HEAD =
  'id,application_name,environment,error_type,message,place,severity,status,priority_level,assigned_to,platform,' +
  'app_version,occurrence_count,user_count,first_seen_at,occurred_at,resolved_at,hash_signature\r\n'

async function exported(context: Context, filter: object): Promise<string> {
  let text = ''
  for await (const part of await perform(exportErrors, context, filter)) text += part
  return text
}

describeEachDatabase('the CSV export', (database) => {
  test('exports a byte order mark, a header and one row per matching error', async () => {
    const { context, log } = await listContext(database)
    const fields = { user_id: 1, severity: 'high', backtrace: [], app_version: '2.0' } as const
    const id = await log('Größe', { message: 'Say "no", or\nnever', ...fields })
    await log('Other', { severity: 'low' })
    const text = await exported(context, { severity: 'high' })
    expect(text.startsWith(`\uFEFF${HEAD}`)).toBe(true)
    const time = new Date(NOON).toISOString()
    expect(text.slice(1 + HEAD.length)).toMatch(
      `${id},shop,production,Größe,"Say ""no"", or\nnever",,high,new,0,,API,2.0,1,1,${time},${time},,`,
    )
    expect(text.trimEnd().split('\r\n')).toHaveLength(2)
    expect(await exported(context, { search: 'nothing' })).toBe(`\uFEFF${HEAD}`)
    await expect(exported(context, { severity: 'urgent' })).rejects.toThrow('severity must be one of')
  })

  test('exports every row once, in list order, over many batches', async () => {
    const { context } = await listContext(database)
    await addGroups(context, 620, (i) => ({ error_type: `Type${i % 5}`, text: `text ${i}`, platform: `P${i % 3}` }))
    const idsOf = (text: string) =>
      text
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((row) => Number(row.split(',')[0]))
    for (const [i, sort_by] of SORT_FIELDS.entries()) {
      const order = { sort_by, sort_direction: i % 2 ? 'asc' : 'desc' } as const
      const ids = idsOf(await exported(context, { ...order, page: 7, per_page: 5 }))
      expect(ids).toHaveLength(620)
      expect(new Set(ids).size).toBe(620)
      const { errors } = await perform(errorsPage, context, { ...order, per_page: 100, page: 6 })
      expect(ids.slice(500, 600)).toEqual(errors.map(({ id }) => id))
    }
    expect(idsOf(await exported(context, { search: 'text 11' }))).toHaveLength(1 + 10)
  })
})

test('escapes cells that a spreadsheet would execute', () => {
  for (const formula of [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    ' =1',
    '"=1',
    "'=1",
    '\u00A0=1',
    '\uFEFF=1',
    '＝1',
    '\n=1',
  ])
    expect(csvRow([formula]).replaceAll('"', '').startsWith("'")).toBe(true)
  for (const plain of ['a=1', '1-1', 'x@y.example', '1', '']) expect(csvRow([plain])).toBe(`${plain}\r\n`)
  expect(csvRow(['a,b', 'c"d', 'e\nf', null, -5, ' g '])).toBe('"a,b","c""d","e\nf",,-5," g "\r\n')
})
