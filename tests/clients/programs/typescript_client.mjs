// The official TypeScript SDK: URL, tenant, the module's folder, the SDK's major version, its mode.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [url, tenant, place, major, mode] = process.argv.slice(2);
const require = createRequire(place + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
let Client;
let Transport;
if (major === '1') {
  ({ Client } = await load('@modelcontextprotocol/sdk/client/index.js'));
  ({ StreamableHTTPClientTransport: Transport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js'));
} else {
  ({ Client, StreamableHTTPClientTransport: Transport } = await load('@modelcontextprotocol/client'));
}
const options = mode === 'modern' ? { versionNegotiation: { mode: 'auto' } } : {};
const client = new Client({ name: 'test', version: '1' }, options);
const headers = { 'X-Memory-Tenant': tenant };
await client.connect(new Transport(new URL(url), { requestInit: { headers } }));
const call = (name, args) => client.callTool({ name, arguments: args });
const tools = (await client.listTools()).tools.map((tool) => tool.name);
await call('remember', { content: 'Standup is at 09:15' });
const error = JSON.stringify((await call('recall', { query: 'standup', limit: 999 })).content);
const recalled = JSON.stringify((await call('recall', { query: 'standup' })).content);
console.log(JSON.stringify({ tools, error, recalled }));
await client.close();
