// Prints stacks of code that throws and catches in all common forms. Detection must not change them.
const print = (label, error) => console.log(label, error.stack)

function failing(message) {
  const details = { message }
  if (details.message === '') throw new TypeError('empty')
  throw new Error(details.message)
}

function handled() {
  try {
    failing('handled')
  } catch (error) {
    print('handled', error)
    print('in the handler', new Error('new'))
    return new RangeError('made in the handler')
  } finally {
    print('finally', new Error('finally'))
  }
}

async function awaited() {
  await null
  try {
    await Promise.resolve().then(() => failing('later'))
  } catch {
    print('without a name', new Error('new'))
  }
  await Promise.reject(new Error('rejected'))
    .then(null, (error) => {
      print('rejected', error)
      failing('in a handler')
    })
    .catch((error) => print('in a handler', error))
}

class Cart {
  #items = []

  total() {
    try {
      return this.#items[0].price
    } catch (error) {
      throw new Error('no total', { cause: error })
    }
  }
}

print('returned', handled())
await awaited()
try {
  new Cart().total()
} catch (error) {
  print('wrapped', error)
  print('cause', error.cause)
}
process.exitCode = 3
