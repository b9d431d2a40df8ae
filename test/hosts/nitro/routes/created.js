export default defineEventHandler(() => {
  throw createError({ statusCode: 503, message: 'created is broken', data: { hint: 'none' } })
})
