class HostError extends TypeError {}

export default defineEventHandler(() => {
  throw new HostError('sync is broken', { cause: new Error('the reason') })
})
