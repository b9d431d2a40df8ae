export default defineEventHandler(() => {
  throw createError({ statusCode: 404, message: 'no such thing' })
})
