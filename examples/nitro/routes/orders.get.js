export default defineEventHandler(async () => {
  throw new Error('The orders cannot be read')
})
