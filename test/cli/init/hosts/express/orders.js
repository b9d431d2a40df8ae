export async function orders() {
  throw new Error('The orders cannot be read')
}
