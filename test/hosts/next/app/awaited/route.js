import { setTimeout as sleep } from 'node:timers/promises'

export async function GET() {
  await sleep(1)
  throw Object.assign(new Error('awaited is broken'), { status: 404 })
}
