export default defineEventHandler(async () => {
  throw new Error('Could not load orders')
})
