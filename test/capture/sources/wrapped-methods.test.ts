import pg from 'pg'
import { expect, test } from 'vitest'
import { pgQueries } from '../../../src/capture/breadcrumbs/pg.js'
import { wrapMethod } from '../../../src/capture/breadcrumbs/wrap-method.js'
import { TrackerInstance } from '../../../src/tracker.js'
import { CREDENTIALS } from '../../support/tracker.js'

const settings = { ...CREDENTIALS, database: 'sqlite::memory:', enable_breadcrumbs: true }
const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const

function started(): TrackerInstance {
  const tracker = new TrackerInstance(settings, { env: {} }).start()
  tracker.attach(pgQueries(pg))
  return tracker
}

function ownMethods(): object {
  const { Client, Pool } = pg
  return [Client.prototype, Pool.prototype, console].map((target) =>
    Object.fromEntries(
      [...METHODS, 'query', 'connect'].map((name) => [name, Object.getOwnPropertyDescriptor(target, name)?.value]),
    ),
  )
}

test('everything is as it was when trackers end in the order in which they started, however often', async () => {
  const before = ownMethods()
  for (let round = 0; round < 3; round++) {
    const first = started()
    const second = started()
    expect(ownMethods()).not.toEqual(before)
    await first.shutdown()
    await second.shutdown()
    expect(ownMethods()).toEqual(before)
    expect(Object.hasOwn(pg.Pool.prototype, 'query')).toBe(false)
  }
})

function greeter() {
  const seen: string[] = []
  class Greeter {
    say(word: string): string {
      return word.toUpperCase()
    }
  }
  class Child extends Greeter {}
  const target = Child.prototype
  const watch = (name: string) =>
    wrapMethod(target, 'say', (inner) => {
      return function (this: unknown, word: string) {
        seen.push(`${name}: ${word}`)
        return Reflect.apply(inner, this, [word])
      }
    })
  return { seen, target, watch, say: (word: string) => new Child().say(word) }
}

test('watchers share one wrapper, and those that are left go on', () => {
  const { seen, target, watch, say } = greeter()
  const endFirst = watch('first')
  const wrapper = target.say
  const endSecond = watch('second')
  expect(target.say).toBe(wrapper)
  expect(say('one')).toBe('ONE')
  endFirst()
  endFirst()
  expect(say('two')).toBe('TWO')
  endSecond()
  expect(say('three')).toBe('THREE')
  expect(seen).toEqual(['second: one', 'first: one', 'second: two'])
  expect(Object.hasOwn(target, 'say')).toBe(false)
})

test('keeps a wrapper added later by other code', () => {
  const { seen, target, watch, say } = greeter()
  const endFirst = watch('first')
  const ours = target.say
  const theirs = function (this: unknown, word: string) {
    return `${Reflect.apply(ours, this, [word])}!`
  }
  target.say = theirs
  const endSecond = watch('second')
  expect(say('one')).toBe('ONE!')
  endFirst()
  endSecond()
  expect(target.say).toBe(theirs)
  expect(say('two')).toBe('TWO!')
  expect(seen).toEqual(['second: one', 'first: one'])
  // They take theirs away, and with it comes back the wrapper of ours that they had found.
  target.say = ours
  const endThird = watch('third')
  expect(target.say).toBe(ours)
  expect(say('three')).toBe('THREE')
  endThird()
  expect(Object.hasOwn(target, 'say')).toBe(false)
  expect(seen.slice(2)).toEqual(['third: three'])
})

test('leaves a method of a frozen object alone', () => {
  const target = Object.freeze({ run: () => 'done' })
  const end = wrapMethod(target, 'run', () => () => 'watched')
  expect(target.run()).toBe('done')
  end()
})
