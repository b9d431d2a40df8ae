import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Proxy {
  /** URL of the database through the proxy. */
  url: string
  /** Breaks every connection and refuses new connections until `open`. */
  refuse(): Promise<void>
  /** Keeps every connection and holds all data until `open`. */
  hang(): void
  /** Resolves when `hang` holds back data. */
  dataHeld(): Promise<void>
  /** Keeps every connection and discards its data. These connections never receive a response again. */
  blackhole(): void
  /** Forwards every packet after a delay. */
  delay(milliseconds: number): void
  /** Ends `refuse`, `hang`, `blackhole` and `delay`. */
  open(): Promise<void>
  /** Breaks the connection before the next commit reaches the server. */
  resetNextCommit(): void
  /** Forwards the next commit and breaks the connection before its response arrives. */
  cutNextCommit(): void
  /** Forwards the next commit and discards its response and everything after it. */
  loseNextCommitResponse(): void
  /** Number of commits that were reset, cut or left without a response so far. */
  interruptedCommits(): number
}

/** TCP proxy in front of the database server that simulates network failures. */
export async function startProxy(target: string): Promise<Proxy> {
  const address = new URL(target)
  const pairs = new Set<Pair>()
  const state: State = {
    ...{ isHanging: false, isDiscarding: false, delayMs: 0 },
    ...{ isCutPending: false, isResetPending: false, isLossPending: false, interruptedCommits: 0, onHeld() {} },
  }
  const server = createServer((client) => {
    const pair = connectPair(client, connect(Number(address.port), address.hostname), state)
    pairs.add(pair)
    client.on('close', () => pairs.delete(pair))
  })
  await listen(server, 0)
  const { port } = server.address() as { port: number }
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const breakAll = () => {
    for (const { end } of pairs) end()
  }
  onTestFinished(() => {
    breakAll()
    server.close()
  })
  return {
    url: url.href,
    async refuse() {
      const closed = once(server, 'close')
      server.close()
      breakAll()
      await closed
    },
    hang() {
      state.isHanging = true
    },
    dataHeld: () =>
      new Promise((resolve) => {
        state.onHeld = resolve
      }),
    blackhole() {
      state.isDiscarding = true
    },
    delay(milliseconds) {
      state.delayMs = milliseconds
    },
    resetNextCommit() {
      state.isResetPending = true
    },
    async open() {
      state.isHanging = false
      state.isDiscarding = false
      state.delayMs = 0
      for (const { resume } of pairs) resume()
      if (!server.listening) await listen(server, port)
    },
    cutNextCommit() {
      state.isCutPending = true
    },
    loseNextCommitResponse() {
      state.isLossPending = true
    },
    interruptedCommits: () => state.interruptedCommits,
  }
}

interface State {
  isHanging: boolean
  isDiscarding: boolean
  delayMs: number
  isResetPending: boolean
  isCutPending: boolean
  isLossPending: boolean
  interruptedCommits: number
  /** Called for each chunk that is held back. */
  onHeld: () => void
}

interface Pair {
  end(): void
  resume(): void
}

function connectPair(client: Socket, server: Socket, state: State): Pair {
  let isCommitting = false
  let isResponseLost = false
  let isDead = false
  const held: (() => void)[] = []
  const end = () => {
    client.destroy()
    server.destroy()
  }
  const pass = (to: Socket, chunk: Buffer) => {
    isDead ||= state.isDiscarding
    if (isDead) return
    if (state.delayMs > 0) {
      // Timers with the same duration fire in the order in which they were set, which keeps packets in order.
      setTimeout(() => to.write(chunk), state.delayMs)
      return
    }
    if (!state.isHanging) return to.write(chunk)
    held.push(() => to.write(chunk))
    state.onHeld()
  }
  client.on('data', (chunk: Buffer) => {
    if (state.isResetPending && hasCommit(chunk)) {
      state.isResetPending = false
      state.interruptedCommits++
      return end()
    }
    if (state.isCutPending && hasCommit(chunk)) {
      state.isCutPending = false
      isCommitting = true
    }
    if (state.isLossPending && hasCommit(chunk)) {
      state.isLossPending = false
      isResponseLost = true
    }
    pass(server, chunk)
  })
  server.on('data', (chunk: Buffer) => {
    if (isResponseLost && !isDead) {
      isDead = true
      state.interruptedCommits++
    }
    if (!isCommitting) return pass(client, chunk)
    state.interruptedCommits++
    end()
  })
  for (const socket of [client, server]) socket.on('close', end).on('error', end)
  return {
    end,
    resume() {
      for (const write of held.splice(0)) write()
    },
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

/** Returns true if the chunk contains a commit statement. In values, the word is length-prefixed or part of a list. */
function hasCommit(chunk: Buffer): boolean {
  const text = chunk.toString('latin1')
  return [...text.matchAll(/commit/g)].some(({ index }) => {
    const isLast = ['', '\0'].includes(text.charAt(index + 'commit'.length))
    return isLast && text.charCodeAt(index - 1) !== 'commit'.length
  })
}
