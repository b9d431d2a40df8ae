export default defineEventHandler(() => 'ok')
