export default defineEventHandler(() => {
  throw 'string is broken'
})
