import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { Spool } from '../../../src/store/spool/spool.js'
import { temporaryFolder } from '../../support/tracker.js'

const FILES = 100

test('includes files that are renamed during the measurement in the size of a spool folder', async () => {
  const folder = temporaryFolder()
  const writing = new Spool(folder, 1_000_000)
  const reading = new Spool(folder, 1_000_000)
  const files = await Promise.all(Array.from({ length: FILES }, () => writing.put(emptyBatch())))
  const { bytes } = await reading.state()
  expect(bytes).toBeGreaterThan(0)
  const [state] = await Promise.all([reading.state(), ...files.map((file) => writing.release(file ?? ''))])
  expect(state).toMatchObject({ files: FILES, bytes })
})

function emptyBatch() {
  return { batch_id: randomUUID(), application_name: 'shop', groups: [], mayBeCommitted: false }
}
