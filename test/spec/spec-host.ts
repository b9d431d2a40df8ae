import type { Settings } from '../../src/options.js'
import type { TestDatabase } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'

export const NOW = Date.UTC(2026, 4, 20, 12)
export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** Ids that do not exist or are out of range. */
export const UNKNOWN_IDS = [
  '999999',
  '0',
  '2147483648',
  '9007199254740991',
  '9007199254740992',
  '99999999999999999999999',
]

export type Fields = Record<string, unknown>

/** A host with sample errors and a controlled clock and random generator. */
export interface SpecHost extends Host {
  /** Ids of the sample errors by name. */
  ids: Record<keyof typeof SAMPLES, number>
  clock: { now: number }
  chance: { next: number }
  url: string
  /** Returns the JSON of a path with its status. */
  read(path: string): Promise<Fields & { status: number }>
  /** Returns a sample error from the JSON of its page. */
  record(name: keyof typeof SAMPLES | number): Promise<Fields>
  /** Names of the sample errors in a list with this query, in list order. */
  listed(query: string): Promise<string[]>
  /** Status and message of a rejected POST. */
  refusal(path: string, form?: Record<string, string | string[]>): Promise<{ status: number; error: string }>
}

export async function specHost(database: TestDatabase, settings: Settings = {}): Promise<SpecHost> {
  const clock = { now: NOW }
  const chance = { next: 0 }
  const url = await database.fresh()
  const host = await startHost(url, settings, { now: () => clock.now, random: () => chance.next })
  const ids = {} as SpecHost['ids']
  for (const [name, fields] of Object.entries(SAMPLES)) {
    const logged = await host.tracker.Commands.LogError.call(fields)
    ids[name as keyof typeof SAMPLES] = logged?.id ?? 0
  }
  const read = async (path: string) => (await host.json(path)) as unknown as Fields & { status: number }
  return {
    ...host,
    ids,
    clock,
    chance,
    url,
    read,
    async record(name) {
      const { error } = await read(`/errors/${typeof name === 'number' ? name : ids[name]}`)
      return error as Fields
    },
    async listed(query) {
      const { errors } = await read(`/errors?${query}`)
      return (errors as { id: number }[]).map(
        ({ id }) => Object.entries(ids).find(([, known]) => known === id)?.[0] ?? String(id),
      )
    },
    async refusal(path, form = {}) {
      const response = await host.post(path, form, { accept: 'application/json' })
      return { status: response.status, error: response.status === 302 ? '' : (await response.json()).error }
    },
  }
}

export const SAMPLES = {
  memory: { error_type: 'OutOfMemoryError', message: 'Heap is full', occurred_at: NOW - 40 * DAY },
  crash: {
    error_type: 'AppCrash',
    message: 'SIGABRT in CheckoutView',
    backtrace: ['CheckoutView.swift:22 submit()', 'UIKit tap'],
    platform: 'ios',
    app_version: '2.0',
    git_sha: 'abc123',
    user_id: 'u-2',
    request_url: 'https://api.example/checkout?token=s3cret',
    request_params: { cart: 7, password: 'hunter2' },
    ip_address: '192.0.2.7',
    user_agent: 'Shop/2.0 (iPhone)',
    occurred_at: new Date(NOW - 28 * HOUR),
  },
  timeout: { error_type: 'TimeoutError', message: 'CPU at 100% in pool', user_id: 'u-1', occurred_at: NOW - 2 * HOUR },
  type: {
    error_type: 'TypeError',
    message: "Cannot read properties of undefined (reading 'total')",
    backtrace: ['at total (/srv/app/src/cart.ts:12:7)'],
    platform: 'Web',
    user_id: 'u-1',
    occurred_at: NOW - 60_000,
  },
}
