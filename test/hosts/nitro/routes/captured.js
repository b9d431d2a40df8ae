export default defineEventHandler((event) => {
  event.captureError(new Error('captured is broken'), { tags: ['cache'] })
  return 'ok'
})
