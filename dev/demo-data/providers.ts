/** The demo's providers, servers and instances. Times are in days before now. */

/** An instance of a server. `deleted` is in days before now. */
export interface DemoInstance {
  readonly name: string;
  readonly deleted?: number;
}

/** A server. `created`, `deleted` and `idle` are in days before now. */
export interface DemoServer {
  readonly name: string;
  readonly type: string;
  readonly status: "Active" | "Maintenance";
  /** USD per hour, with up to four decimal places. */
  readonly price: string;
  readonly created: number;
  readonly deleted?: number;
  /** When its last rental ended, if it exists but is no longer rented. */
  readonly idle?: number;
  /** The fraction of time in which it is rented, 0 to 1. */
  readonly demand: number;
  /** If empty, the server is rented as a whole. */
  readonly instances: readonly DemoInstance[];
}

/** A provider. `created` is in days before now. */
export interface DemoProvider {
  readonly name: string;
  readonly created: number;
  /** Payout methods, used in rotation. */
  readonly methods: readonly string[];
  readonly servers: readonly DemoServer[];
}

const GPU = "GPU · 8 × H100 SXM5 80 GB";
const SMALL_GPU = "GPU · 4 × RTX 4090 24 GB";
const CPU = "CPU · EPYC 9654, 192 threads";
const BARE_METAL = "Bare metal · Xeon Gold 6438Y+";

/** Two years and a day, so that the oldest charges are two years old. */
const LAUNCH = 731;

const large: DemoProvider = {
  name: "Nordlicht Compute GmbH",
  created: LAUNCH,
  methods: ["Bank Transfer", "Bank Transfer", "PayPal", "Wise"],
  servers: [
    {
      name: "falcon-01",
      type: GPU,
      status: "Active",
      price: "2.50",
      created: LAUNCH,
      demand: 0.9,
      instances: [...numbered("gpu", 5), { name: "gpu-6 (retired)", deleted: 140 }],
    },
    {
      name: 'Render farm "Blackbird" №2',
      type: SMALL_GPU,
      status: "Active",
      price: "1.125",
      created: 700,
      demand: 0.8,
      instances: numbered("node", 5),
    },
    {
      name: "北京 GPU 集群 🚀",
      type: GPU,
      status: "Active",
      price: "3.2",
      created: 620,
      demand: 0.85,
      instances: [{ name: "一号 🐉" }, { name: "二号" }, { name: "三号" }, { name: "四号" }],
    },
    {
      name: "خادم القاهرة رقم 7",
      type: CPU,
      status: "Active",
      price: "0.3475",
      created: 540,
      demand: 0.7,
      instances: [{ name: "مثيل أ" }, { name: "מופע ב" }, ...numbered("vm", 2)],
    },
    {
      name: "<script>alert('revenue')</script> & <b>bold</b>",
      type: CPU,
      status: "Active",
      price: "0.42",
      created: 480,
      demand: 0.65,
      instances: [
        { name: "&lt;escaped&gt;" },
        { name: '"quoted", with, commas' },
        { name: "c:\\vm\\3" },
      ],
    },
    {
      name: "O'Brien & Söhne'; DROP TABLE charges; --",
      type: BARE_METAL,
      status: "Active",
      price: "0.99",
      created: 430,
      demand: 0.75,
      instances: [],
    },
    {
      name: `${"The server with the longest name that fits, ".repeat(5)}which has 255 characters 🏁`.padEnd(
        256,
        "!",
      ),
      type: SMALL_GPU,
      status: "Active",
      price: "1.0001",
      created: 365,
      demand: 0.7,
      instances: numbered("slot", 4),
    },
    {
      name: "falcon-02",
      type: GPU,
      status: "Maintenance",
      price: "2.75",
      created: 330,
      idle: 6,
      demand: 0.85,
      instances: numbered("gpu", 4),
    },
    {
      name: "community-free 👩‍💻",
      type: CPU,
      status: "Active",
      price: "0",
      created: 300,
      demand: 0.9,
      instances: numbered("free", 2),
    },
    {
      name: "falcon-00 (sold)",
      type: GPU,
      status: "Active",
      price: "1.95",
      created: LAUNCH,
      deleted: 95,
      demand: 0.8,
      instances: numbered("gpu", 4),
    },
    {
      name: "test, please ignore",
      type: CPU,
      status: "Active",
      price: "0.10",
      created: 250,
      deleted: 249,
      demand: 0,
      instances: numbered("test", 1),
    },
    {
      name: "falcon-03",
      type: GPU,
      status: "Active",
      price: "2.80",
      created: 45,
      demand: 0.95,
      instances: [...numbered("gpu", 2), { name: "   " }],
    },
  ],
};

const small: DemoProvider = {
  name: 'Böbbles "Basement" Hosting 🛰️',
  created: 270,
  methods: ["PayPal"],
  servers: [
    {
      name: "basement",
      type: SMALL_GPU,
      status: "Active",
      price: "0.85",
      created: 268,
      demand: 0.6,
      instances: numbered("card", 2),
    },
    {
      name: "attic",
      type: BARE_METAL,
      status: "Maintenance",
      price: "0.205",
      created: 200,
      idle: 20,
      demand: 0.5,
      instances: [],
    },
    {
      name: "garage (flooded)",
      type: BARE_METAL,
      status: "Active",
      price: "0.18",
      created: 250,
      deleted: 61,
      demand: 0.4,
      instances: [],
    },
  ],
};

const brandNew: DemoProvider = {
  name: "חוות השרתים החדשה",
  created: 1,
  methods: [],
  servers: [
    {
      name: "first",
      type: CPU,
      status: "Active",
      price: "0.50",
      created: 1,
      demand: 0,
      instances: numbered("vm", 2),
    },
  ],
};

/** The providers in the order of their ids: 1 is large, 2 is small, 3 has no charges yet. */
export const demoProviders: readonly DemoProvider[] = [large, small, brandNew];

function numbered(name: string, count: number): DemoInstance[] {
  return Array.from({ length: count }, (_, index) => ({ name: `${name}-${index + 1}` }));
}
