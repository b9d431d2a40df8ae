export async function orders() {
  throw new Error('Could not load orders')
}
