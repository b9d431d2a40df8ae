/** @type {import('next').NextConfig} */
const nextConfig = {
  // in the exported object
};

export default nextConfig;
