import { expect, onTestFinished, test } from 'vitest'
import { createEmbeddedStore } from '../../src/jobs/embedded.js'
import { TIMING } from '../../src/jobs/timing.js'
import { DAY, MINUTE } from '../../src/model/time.js'
import { resolveConfiguration } from '../../src/options.js'
import { createDatabase } from '../../src/store/database.js'
import { jobEngineContract, settingsOf } from '../contract/job-engine.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshStorage, NOON } from '../support/tracker.js'

describeEachDatabase('the embedded engine', (database) => {
  jobEngineContract(async () => {
    const { url } = await freshStorage(database)
    const settings = (address: string) => settingsOf({ database: address })
    return { settings: settings(url), server: database.dialect === 'sqlite' ? null : { url, settings } }
  })

  test('keeps the delays of jobs and the ends of leases when the clock is set back', async () => {
    const { store, clock } = await openStore()
    await store.add([
      { name: 'record', data: { job: 'of an ended process' } },
      { name: 'record', data: { job: 'in five minutes' }, run_at: NOON + 5 * MINUTE },
    ])
    expect(await store.claim(10)).toHaveLength(1)
    await store.add([{ name: 'record', data: { job: 'due' } }])
    clock.now = NOON - DAY
    expect(await store.claim(10)).toEqual([])
    await store.releaseExpired()
    const claimed = async () => (await store.claim(10)).map(({ data }) => data.job)
    expect(await claimed()).toEqual(['due'])
    clock.now += 2 * MINUTE
    await store.releaseExpired()
    expect((await claimed()).sort()).toEqual(['due', 'of an ended process'])
    clock.now += 3 * MINUTE
    expect(await claimed()).toEqual(['in five minutes'])
  })

  async function openStore() {
    const { url } = await freshStorage(database)
    const clock = { now: NOON }
    const opened = createDatabase(url, '.')
    onTestFinished(() => opened.close())
    const { options: config } = resolveConfiguration(settingsOf({ database: url }), {})
    const log = { info() {}, warn() {} }
    const parts = { config, database: opened, log, now: () => clock.now, random: () => 0.5, ready: async () => {} }
    return { store: createEmbeddedStore(parts, TIMING), clock }
  }
})
