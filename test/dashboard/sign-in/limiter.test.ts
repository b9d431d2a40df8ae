import { describe, expect, test } from 'vitest'
import {
  MAX_WRONG_PAIRS_BEFORE_DELAY,
  MAX_WRONG_PAIRS_PER_NETWORK,
  MAX_WRONG_SECRETS,
  type SignInAttempt,
  SignInLimitedError,
  SignInLimiter,
} from '../../../src/dashboard/sign-in/limiter.js'

const SECRET = 'correct horse'

function createLimiter() {
  const clock = { now: 1_000_000 }
  const delays: { resume(): void; ms: number }[] = []
  const limiter = new SignInLimiter(
    () => clock.now,
    (ms) => new Promise((resume) => delays.push({ resume, ms })),
  )
  let verified = 0
  const attempt = (given: Partial<SignInAttempt> = {}) => {
    const complete = { name: 'admin', secret: SECRET, network: '192.0.2.1', device: null, ...given }
    const verify = () => {
      verified += 1
      return complete.name === 'admin' && complete.secret === SECRET ? 'admin' : null
    }
    return limiter.attempt(complete, verify).then(
      (user) => (user === null ? 'wrong' : 'signed in'),
      (error: unknown) => {
        if (error instanceof SignInLimitedError) return 'limited'
        throw error
      },
    )
  }
  const guess = async (count: number, given: (i: number) => Partial<SignInAttempt> = () => ({})) => {
    const outcomes: string[] = []
    for (let i = 0; i < count; i++) outcomes.push(await attempt({ secret: `guess ${i}`, ...given(i) }))
    return outcomes
  }
  return { limiter, clock, delays, attempt, guess, verified: () => verified }
}

const repeated = (outcome: string, count: number) => Array<string>(count).fill(outcome)

describe('the limit per name and network', () => {
  test('refuses every attempt after 20 wrong secrets, until the minute is over', async () => {
    const { clock, attempt, guess } = createLimiter()
    expect(await guess(25)).toEqual([...repeated('wrong', 20), ...repeated('limited', 5)])
    expect(await attempt()).toBe('limited')
    clock.now += 60_000
    expect(await attempt()).toBe('signed in')
  })

  test('the limit ends within a minute when the clock is set back', async () => {
    const { clock, attempt, guess } = createLimiter()
    await guess(20)
    clock.now -= 24 * 3_600_000
    expect(await attempt()).toBe('signed in')
  })

  test('does not refuse another name in the same network', async () => {
    const { attempt, guess } = createLimiter()
    await guess(25, () => ({ name: 'root' }))
    expect(await attempt({ name: 'root' })).toBe('limited')
    expect(await attempt()).toBe('signed in')
  })

  test('does not refuse the same name in another network', async () => {
    const { attempt, guess } = createLimiter()
    await guess(25)
    expect(await attempt({ network: '192.0.2.2' })).toBe('signed in')
  })

  test('counts one repeated secret once, and limits its repetition without affecting other secrets', async () => {
    const { attempt, guess, verified } = createLimiter()
    const outcomes = await guess(25, () => ({ secret: 'last year' }))
    expect(outcomes).toEqual([...repeated('wrong', 20), ...repeated('limited', 5)])
    expect(verified()).toBe(1)
    expect(await attempt()).toBe('signed in')
  })

  test('does not count successful sign-ins', async () => {
    const { attempt } = createLimiter()
    for (let i = 0; i < 300; i++) expect(await attempt()).toBe('signed in')
  })

  test('limits parallel attempts with a slow verification', async () => {
    const limiter = new SignInLimiter(() => 0)
    let verified = 0
    const outcomes = await Promise.allSettled(
      Array.from({ length: 500 }, (_, i) =>
        limiter.attempt({ name: 'admin', secret: `guess ${i}`, network: '192.0.2.1', device: null }, async () => {
          verified += 1
          await new Promise((resume) => setImmediate(resume))
          return null
        }),
      ),
    )
    expect(verified).toBe(MAX_WRONG_SECRETS)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_WRONG_SECRETS)
  })

  test('does not count an attempt whose verification failed for another reason', async () => {
    const limiter = new SignInLimiter(() => 0)
    const attempt = { name: 'admin', secret: SECRET, network: '192.0.2.1', device: null }
    const broken = () => Promise.reject(new Error('the directory is unavailable'))
    for (let i = 0; i < 30; i++) await expect(limiter.attempt(attempt, broken)).rejects.toThrow('directory')
    expect(await limiter.attempt(attempt, () => 'admin')).toBe('admin')
  })
})

describe('the limit per network', () => {
  test('stops a client that guesses many names', async () => {
    const { guess } = createLimiter()
    const outcomes = await guess(300, (i) => ({ name: `user ${i}` }))
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(MAX_WRONG_PAIRS_PER_NETWORK)
    expect(outcomes.at(-1)).toBe('limited')
  })
})

describe('a known device', () => {
  test('a known device signs in while other clients exhaust the limits of its name, network and total', async () => {
    const { attempt, guess } = createLimiter()
    await guess(25)
    await guess(300, (i) => ({ name: `user ${i}` }))
    for (let network = 0; network < 5; network++) await guess(20, () => ({ network: `198.51.100.${network}` }))
    expect(await attempt()).toBe('limited')
    expect(await attempt({ device: 'laptop' })).toBe('signed in')
  })

  test('a known device has its own limit', async () => {
    const { attempt, guess } = createLimiter()
    expect(await guess(25, () => ({ device: 'laptop' }))).toEqual([...repeated('wrong', 20), ...repeated('limited', 5)])
    expect(await attempt({ device: 'laptop' })).toBe('limited')
    expect(await attempt({ device: 'phone' })).toBe('signed in')
    expect(await attempt()).toBe('signed in')
  })
})

describe('beyond 200 wrong pairs a minute in total', () => {
  async function attacked() {
    const parts = createLimiter()
    for (let network = 0; network < MAX_WRONG_PAIRS_BEFORE_DELAY / 20; network++)
      await parts.guess(20, () => ({ network: `2001:db8:0:${network}::/64` }))
    return parts
  }

  test('delays the sign-in of an unknown client and then verifies it', async () => {
    const { attempt, delays, verified } = await attacked()
    const before = verified()
    const signIn = attempt({ network: '203.0.113.5' })
    expect(delays).toHaveLength(1)
    expect(verified()).toBe(before)
    delays[0]?.resume()
    expect(await signIn).toBe('signed in')
  })

  test('holds at most ten requests, and one per network', async () => {
    const { attempt, delays } = await attacked()
    const held = Array.from({ length: 10 }, (_, i) => attempt({ network: `203.0.113.${i}` }))
    expect(await attempt({ network: '203.0.113.0' })).toBe('limited')
    expect(await attempt({ network: '203.0.113.99' })).toBe('limited')
    expect(delays).toHaveLength(10)
    for (const { resume } of delays) resume()
    expect(await Promise.all(held)).toEqual(repeated('signed in', 10))
    const next = attempt({ network: '203.0.113.99' })
    delays[10]?.resume()
    expect(await next).toBe('signed in')
  })

  test('the limit ends with the minute', async () => {
    const { attempt, delays, clock } = await attacked()
    clock.now += 60_000
    expect(await attempt({ network: '203.0.113.5' })).toBe('signed in')
    expect(delays).toHaveLength(0)
  })

  test('releases held requests when the dashboard closes', async () => {
    const limiter = new SignInLimiter(() => 0)
    const attempt = (secret: string, network: string) =>
      limiter.attempt({ name: 'admin', secret, network, device: null }, () => null)
    for (let i = 0; i < MAX_WRONG_PAIRS_BEFORE_DELAY; i++) await attempt(`guess ${i}`, `198.51.100.${i}`)
    const held = attempt('guess', '203.0.113.1')
    limiter.close()
    await expect(held).rejects.toBeInstanceOf(SignInLimitedError)
  })
})

test('evicts the oldest window when a distributed attack reaches the memory limit', async () => {
  const { attempt, guess } = createLimiter()
  await guess(25, () => ({ device: 'laptop' }))
  expect(await attempt({ device: 'laptop' })).toBe('limited')
  await guess(6000, (i) => ({ device: `device ${i}` }))
  expect(await attempt({ device: 'laptop' })).toBe('signed in')
})
