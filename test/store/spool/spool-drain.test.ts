import { expect, onTestFinished, test } from 'vitest'
import type { ErrorEvent } from '../../../src/model/event.js'
import type { Batch } from '../../../src/store/recording/batch.js'
import { FoldedGroup } from '../../../src/store/recording/folded-group.js'
import { Spool } from '../../../src/store/spool/spool.js'
import { SpoolDrain } from '../../../src/store/spool/spool-drain.js'
import { NOON, temporaryFolder } from '../../support/tracker.js'

const MAX_ROWS = 500

test('imports many small files in few transactions', async () => {
  const spool = new Spool(temporaryFolder(), 100_000_000)
  const files = 3 * MAX_ROWS
  for (let i = 0; i < files; i++) spool.putSync(batch(`${i}`, [event(i)]))
  const { drain, transactions } = startDrain(spool)
  await drain.importFiles()
  expect(transactions.map((batches) => batches.length)).toEqual([MAX_ROWS, MAX_ROWS, MAX_ROWS])
  expect(new Set(transactions.flat().map(({ batch_id }) => batch_id)).size).toBe(files)
  expect(await spool.state()).toMatchObject({ files: 0, failed: 0, bytes: 0 })
})

test('imports large files in transactions of a few megabytes', async () => {
  const spool = new Spool(temporaryFolder(), 100_000_000)
  const megabyte = 'x'.repeat(1_000_000)
  for (let i = 0; i < 10; i++) spool.putSync(batch(`${i}`, [{ ...event(i), message: megabyte }]))
  const { drain, transactions } = startDrain(spool)
  await drain.importFiles()
  expect(transactions.map((batches) => batches.length)).toEqual([5, 5])
})

test('stores each event and each backtrace of a spool file once and reads them back unchanged', async () => {
  const spool = new Spool(temporaryFolder(), 100_000_000)
  const backtrace = Array.from({ length: 20 }, (_, i) => `at step${i} (/srv/shop/src/orders.js:${i}:1)`)
  const events = Array.from({ length: 50 }, (_, i) => ({ ...event(i), backtrace }))
  const written = batch('repeats', events)
  spool.putSync(written)
  expect((await spool.state()).bytes).toBeLessThan(2 * JSON.stringify(events.map(withoutBacktrace)).length)
  const { drain, transactions } = startDrain(spool)
  await drain.importFiles()
  const read = transactions.flat()[0]
  expect(read?.groups[0]?.kept).toEqual(events)
  expect(read?.groups).toEqual(written.groups)
})

test('imports a file of version 0.4.0', async () => {
  const [first, last] = [event(1), event(2)]
  const { hours, users } = batch('old', [first, last]).groups[0] as FoldedGroup
  const sums = { count: 2, hours: [...hours.values()], users: [...users.values()] }
  const group = FoldedGroup.fromJSON(
    JSON.parse(JSON.stringify({ oldest: first, newest: last, kept: [first, last], ...sums })),
  )
  expect(group).toEqual(batch('old', [first, last]).groups[0])
})

function startDrain(spool: Spool) {
  const transactions: (readonly Batch[])[] = []
  const drain = new SpoolDrain({
    spools: [spool],
    maxRows: MAX_ROWS,
    write: async (batches) => transactions.push(batches),
    isRefusal: () => false,
    onRefused() {},
    isUnavailable: () => false,
    onUnavailable() {},
    onFailed(error) {
      throw error
    },
  })
  onTestFinished(() => drain.close())
  return { drain, transactions }
}

function batch(batch_id: string, events: readonly ErrorEvent[]): Batch {
  const group = new FoldedGroup(events[0] as ErrorEvent)
  for (const event of events) group.add(event, 1000)
  group.bytes = 0
  return { batch_id, application_name: 'shop', groups: [group], mayBeCommitted: true }
}

function event(number: number): ErrorEvent {
  return {
    ...{ hash_signature: 'a'.repeat(64), environment: 'test', error_type: 'Small', message: `${number}` },
    ...{ severity: 'low', place: null },
    ...{ backtrace: [], causes: [], platform: 'API', app_version: null, git_sha: null, user_id: `${number}` },
    ...{ request_url: null, ip_address: null, user_agent: null, context: {}, occurred_at: NOON + number },
  }
}

function withoutBacktrace({ backtrace: _, ...rest }: ErrorEvent): object {
  return rest
}
