export default async function handler() {
  throw new Error('api is broken')
}
