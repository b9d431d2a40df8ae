import { expect, test } from 'vitest'
import { muteError, unmuteError } from '../../src/triage/commands/mute-error.js'
import { resolveError } from '../../src/triage/commands/resolve-error.js'
import { snoozeError, unsnoozeError } from '../../src/triage/commands/snooze-error.js'
import { updateStatus } from '../../src/triage/commands/update-status.js'
import { describeEachDatabase } from '../support/databases.js'
import { type DeliveryHarness, harnessAt, harnessesOn } from './delivery-harness.js'

const MINUTE = 60_000
const COOLDOWN = 5
const MILESTONES = [3, 6, 12]
const SETTINGS = {
  ...{ webhook_url: 'http://127.0.0.1:9/', incident_integration_key: 'k', notification_cooldown_minutes: COOLDOWN },
  ...{ notification_threshold_alerts: MILESTONES, severity_thresholds: { incident: 'low' as const } },
}

/** Reference model of the rules for one error: occurrence by occurrence, without a database or batches. */
class ModelledError {
  count = 0
  status = 'none'
  resolved_at = 0
  snoozed_until = 0
  muted_until = 0
  last_message_at = Number.NEGATIVE_INFINITY
  incident_is_open = false
  messages: string[] = []
  pager: string[] = []

  record(times: number, now: number): void {
    const before = this.count
    this.count += times
    if (before === 0) {
      this.status = 'new'
      this.notify('new', now)
      return
    }
    const returned = this.status === 'resolved' && now > this.resolved_at
    if (returned) this.status = 'new'
    if (this.status === 'wont_fix' || this.status === 'resolved') return
    if (this.snoozed_until > now || this.muted_until > now) return
    const reached = MILESTONES.filter((milestone) => milestone > before && milestone <= this.count)
    if (returned && now - this.last_message_at >= COOLDOWN * MINUTE) this.notify('reopened', now)
    else if (reached.length > 0) this.notify(`milestone ${Math.max(...reached)}`, now)
    else if (returned) this.tellPager('reopened')
  }

  close(status: 'resolved' | 'wont_fix', now: number): void {
    const wasOpen = this.status !== 'resolved' && this.status !== 'wont_fix'
    // Resolving a resolved error changes nothing.
    if (wasOpen || this.status !== status) this.resolved_at = now
    this.status = status
    if (!wasOpen || !this.incident_is_open) return
    this.incident_is_open = false
    this.pager.push('resolved')
  }

  notify(message: string, now: number): void {
    this.messages.push(message)
    this.last_message_at = now
    this.tellPager(message)
  }

  tellPager(message: string): void {
    this.pager.push(message)
    this.incident_is_open = true
  }
}

function randomIntegers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describeEachDatabase('random histories of three errors on two processes', (database) => {
  const openHarness = harnessesOn(database)
  const sentKeys = async (harness: DeliveryHarness, id: number, channel: string) =>
    (await harness.rows())
      .filter((row) => row.error_id === id && row.channel === channel)
      .map(({ event, idempotency_key }) =>
        event === 'milestone' ? `milestone ${idempotency_key.split(':')[2]}` : event,
      )

  test.each([1, 2, 3])('sends exactly the notifications that the rules require (seed %d)', async (seed) => {
    const randomInteger = randomIntegers(seed)
    const harness = await openHarness(SETTINGS)
    const other = harnessAt(harness.storage, SETTINGS)
    const models = ['A', 'B', 'C'].map((type) => ({ type, id: 0, model: new ModelledError() }))
    const hours = () => 1 + randomInteger(2)
    for (let step = 0; step < 60; step++) {
      harness.clock.now += 1 + randomInteger(randomInteger(3) === 0 ? 90 * MINUTE : 4 * MINUTE)
      other.clock.now = harness.clock.now
      const { now } = harness.clock
      const tracked = models[randomInteger(models.length)] as (typeof models)[number]
      const { id: error_id, model, type } = tracked
      const action = error_id === 0 ? 0 : randomInteger(12)
      if (action <= 5) {
        const times = 1 + (randomInteger(3) === 0 ? randomInteger(5) : 0)
        const harnesses = randomInteger(2) === 0 ? harness : other
        const ids = await Promise.all(Array.from({ length: times }, () => harnesses.log(type)))
        tracked.id = ids[0] ?? 0
        model.record(times, now)
      } else if (action <= 7) {
        await other.run(resolveError, { error_id })
        model.close('resolved', now)
      } else if (action === 8) {
        const muteHours = randomInteger(2) === 0 ? hours() : undefined
        await harness.run(muteError, { error_id, hours: muteHours })
        model.muted_until = muteHours === undefined ? Number.POSITIVE_INFINITY : now + muteHours * 60 * MINUTE
      } else if (action === 9) {
        const snoozeHours = hours()
        await harness.run(snoozeError, { error_id, hours: snoozeHours })
        model.snoozed_until = now + snoozeHours * 60 * MINUTE
      } else if (action === 10) {
        await harness.run(unmuteError, { error_id })
        await harness.run(unsnoozeError, { error_id })
        model.muted_until = model.snoozed_until = 0
      } else if (randomInteger(3) === 0) {
        await harness.run(updateStatus, { error_id, status: 'wont_fix' })
        model.close('wont_fix', now)
      }
    }
    for (const { id, model } of models) {
      expect(await sentKeys(harness, id, 'incident')).toEqual(model.pager)
      expect(await sentKeys(harness, id, 'webhook')).toEqual(model.messages)
    }
  })
})
