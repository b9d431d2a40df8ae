exports.fail = () => {
  throw new RangeError('of a library')
}
exports.failInside = () => {
  try {
    throw new Error('none of the business of the host')
  } catch {}
}
exports.swallow = (work) => {
  try {
    work()
  } catch {}
}
