export default defineEventHandler(async () => {
  // A timer would add frames of Node.js to the stack on a busy machine.
  await null
  throw new Error('awaited is broken')
})
