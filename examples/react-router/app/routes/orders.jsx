export function loader() {
  throw new Error('The orders cannot be read')
}

export default function Orders() {
  return <p>Orders</p>
}
