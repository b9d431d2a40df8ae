export default function Home() {
  return <a href="/orders">Orders</a>;
}
