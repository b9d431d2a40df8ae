exports.fail = () => {
  throw new RangeError('raised in a library')
}
exports.failInside = () => {
  try {
    throw new Error('handled inside the library')
  } catch {}
}
exports.swallow = (work) => {
  try {
    work()
  } catch {}
}
