import { setTimeout as sleep } from 'node:timers/promises'

export default defineEventHandler(async () => {
  await sleep(1)
  throw new Error('awaited is broken')
})
