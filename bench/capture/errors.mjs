// Three functions that call each other, for a stack of any depth with different frames.
function receive(depth, message) {
  return depth > 0 ? validate(depth - 1, message) : new Error(message)
}

function validate(depth, message) {
  return depth > 0 ? charge(depth - 1, message) : new Error(message)
}

function charge(depth, message) {
  return depth > 0 ? receive(depth - 1, message) : new Error(message)
}

/** Creates an error with the given number of frames. */
export function createError(frames, message) {
  Error.stackTraceLimit = frames
  return receive(frames, message)
}

/** Details of a web request. */
export const DETAILS = {
  request_url: 'https://shop.example.com/orders/4711/items?page=3&sort=price',
  request_params: { order: { id: 4711, items: [{ sku: 'A-100', quantity: 2 }] }, page: '3', password: 'hunter2' },
  user_id: 'user-42',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36',
  ip_address: '203.0.113.7',
}
