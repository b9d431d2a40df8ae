// Swallows three errors and ends in the first tick of the event loop.
for (let i = 0; i < 3; i++) {
  try {
    throw new RangeError('early') // @raise early
  } catch {} // @rescue early
}
if (process.argv[2] === 'exit') process.exit(0)
throw new Error('the end') // @raise end
