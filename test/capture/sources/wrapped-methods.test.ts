import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { pgQueries } from '../../../src/capture/breadcrumbs/pg.js'
import { wrapMethod } from '../../../src/capture/breadcrumbs/wrap-method.js'
import { TrackerInstance } from '../../../src/tracker.js'
import { CREDENTIALS, temporaryFolder } from '../../support/tracker.js'

const settings = { ...CREDENTIALS, database: 'sqlite::memory:', enable_breadcrumbs: true }
const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const

function startTracker(): TrackerInstance {
  const tracker = new TrackerInstance(settings, { env: {} }).start()
  tracker.attach(pgQueries(pg))
  return tracker
}

function currentMethods(): object {
  const { Client, Pool } = pg
  return [Client.prototype, Pool.prototype, console].map((target) =>
    Object.fromEntries(
      [...METHODS, 'query', 'connect'].map((name) => [name, Object.getOwnPropertyDescriptor(target, name)?.value]),
    ),
  )
}

test('restores all methods when trackers shut down in the order in which they started', async () => {
  const before = currentMethods()
  for (let round = 0; round < 3; round++) {
    const first = startTracker()
    const second = startTracker()
    expect(currentMethods()).not.toEqual(before)
    await first.shutdown()
    await second.shutdown()
    expect(currentMethods()).toEqual(before)
    expect(Object.hasOwn(pg.Pool.prototype, 'query')).toBe(false)
  }
})

function createGreeter() {
  const seen: string[] = []
  class Greeter {
    say(word: string): string {
      return word.toUpperCase()
    }
  }
  class Child extends Greeter {}
  const target = Child.prototype
  const observe = (name: string) =>
    wrapMethod(target, 'say', (inner) => {
      return function (this: unknown, word: string) {
        seen.push(`${name}: ${word}`)
        return Reflect.apply(inner, this, [word])
      }
    })
  return { seen, target, watch: observe, say: (word: string) => new Child().say(word) }
}

test('shares one wrapper between observers and keeps it for the remaining observers', () => {
  const { seen, target, watch: observe, say } = createGreeter()
  const stopFirst = observe('first')
  const wrapper = target.say
  const stopSecond = observe('second')
  expect(target.say).toBe(wrapper)
  expect(say('one')).toBe('ONE')
  stopFirst()
  stopFirst()
  expect(say('two')).toBe('TWO')
  stopSecond()
  expect(say('three')).toBe('THREE')
  expect(seen).toEqual(['second: one', 'first: one', 'second: two'])
  expect(Object.hasOwn(target, 'say')).toBe(false)
})

test('keeps a wrapper added later by other code', () => {
  const { seen, target, watch: observe, say } = createGreeter()
  const stopFirst = observe('first')
  const wrapper = target.say
  const outerWrapper = function (this: unknown, word: string) {
    return `${Reflect.apply(wrapper, this, [word])}!`
  }
  target.say = outerWrapper
  const stopSecond = observe('second')
  expect(say('one')).toBe('ONE!')
  stopFirst()
  stopSecond()
  expect(target.say).toBe(outerWrapper)
  expect(say('two')).toBe('TWO!')
  expect(seen).toEqual(['second: one', 'first: one'])
  // The other code removes its wrapper and thereby restores the wrapper of the tracker.
  target.say = wrapper
  const stopThird = observe('third')
  expect(target.say).toBe(wrapper)
  expect(say('three')).toBe('THREE')
  stopThird()
  expect(Object.hasOwn(target, 'say')).toBe(false)
  expect(seen.slice(2)).toEqual(['third: three'])
})

test('does not wrap a method of a frozen object', () => {
  const target = Object.freeze({ run: () => 'done' })
  const stop = wrapMethod(target, 'run', () => () => 'watched')
  expect(target.run()).toBe('done')
  stop()
})

test('records errors in a process with frozen intrinsics', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'input.json')
  const database = `sqlite:${join(folder, 'errors.sqlite3')}`
  writeFileSync(
    file,
    JSON.stringify({ settings: { ...settings, database }, events: [{ error_type: 'E', message: 'm' }] }),
  )
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--frozen-intrinsics', 'test/store/fixtures/record.mjs', file],
    { encoding: 'utf8' },
  )
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ states: { recorded: 1 }, rejected: 0 })
})
