//! The releases that `bench suggest` compares: pinned by version and by the hash of the archive. Only the list.

use super::corpus::{Package, package};

/// Two consecutive releases of one package.
pub(super) struct Pair {
    pub(super) name: &'static str,
    /// The folder of its sources.
    pub(super) sources: &'static str,
    pub(super) old: Package,
    pub(super) new: Package,
}

const fn pair(name: &'static str, sources: &'static str, old: [&'static str; 2], new: [&'static str; 2]) -> Pair {
    Pair { name, sources, old: package(name, old[0], old[1]), new: package(name, new[0], new[1]) }
}

/// In the order of the report.
pub(super) const PAIRS: &[Pair] = &[
    pair(
        "three",
        "src",
        ["0.185.1", "a2143f5bf978bd3470a51024b2b6bdd581913ba8f36ff1538d433f3a95adf2df"],
        ["0.186.0", "61eeff9d7616005c9a481c796f52287d81fbbbc0d55eaca5565322924252c1aa"],
    ),
    pair(
        "rxjs",
        "src",
        ["7.8.1", "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149"],
        ["7.8.2", "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82"],
    ),
    pair(
        "mobx",
        "src",
        ["7.0.6", "e52380a209c6a9fc287056f9e77ddc9030ae5d1d200fb91eac32c2e3cb271ce4"],
        ["7.1.3", "bbd07665d8851ee01df2fd4e12db106c60fd878839610dd8b899548969625616"],
    ),
    pair(
        "@wagmi/core",
        "src",
        ["3.5.4", "6e5a3f34e5acfd235ba265f923c56919ddf2a0fdc707d69ab99157ae96764953"],
        ["3.5.5", "2682a688045a0356d1c8c6a2d4c753e2b46be9b598971b4a237ce43d9fd62249"],
    ),
    pair(
        "svelte",
        "src",
        ["5.57.2", "c1642b82858751ab49355c53e4a63a8d9e2c3d3fae21cf6a00ed22ecd048e71a"],
        ["5.57.3", "afda776761670addcd6f4345c1b4b0665c8dd11b82961cbfee9696d5d9f4546a"],
    ),
    pair(
        "@sveltejs/kit",
        "src",
        ["3.1.0", "1b8445eb13be20ece33a2e52e05c8930b00df9b7f8f41e954c604b999fa28d9c"],
        ["3.1.1", "7349d136397c3aaea8f0133b834d4c189beef6c94f5f151cd4d0b68d542485fd"],
    ),
    pair(
        "stylelint",
        "lib",
        ["17.16.0", "950b26ca89d53ea55cec1b8ca904ff6aa0d93007d360fe840dffdc174e148f66"],
        ["18.0.0", "c4afe67deb7470113f8edd18138fc96f64c45007de2ffbae3a6c934e1b535682"],
    ),
    pair(
        "undici",
        "lib",
        ["8.12.3", "e03fa2ed347527c915026c04810d3b9bcf9893a2176b314aa4c29c945612d18c"],
        ["8.12.4", "26058cdb2174623666e823e6b44ccfef8d5c1955107f979b8083904b61a0ce6e"],
    ),
    pair(
        "mongodb",
        "src",
        ["7.7.0", "ccd19c0222a7f73ef07615d344df38f950681da84c78605d002d12588e984535"],
        ["7.8.0", "98e349d5c53490c70f06f4b041b83e7ec5b8da2ca8ae73b7d0ba6832ea235724"],
    ),
    pair(
        "mongoose",
        "lib",
        ["9.11.4", "55f79b695ab4e6efd2c9b01fe068da95dd14fc45a16cb976091983342adf1cb3"],
        ["9.12.0", "bf1e1936bea4dce05732fd04d81a3ec05fd6af93f915e54063d7921d55a72b76"],
    ),
    pair(
        "knex",
        "lib",
        ["3.2.10", "c563a0d2882834b4faea88b277d3702f4f85ef198bfb73d516c2f5470617bb9d"],
        ["3.3.0", "6f017ec9d4b8d665c739fa5ed20833bc96e61bc3903ea7ab6ad8498c926f1cc5"],
    ),
    pair(
        "jsdom",
        "lib",
        ["30.1.2", "5634f03d26472f1966670b3a8be4c7cbb22b363c23e4af772e3c5a0540816a29"],
        ["30.1.3", "48dc5a26cec36bbc2fecf88aa95583af6e9e566a67006077a97b71f5b3a8dec1"],
    ),
    pair(
        "@anthropic-ai/sdk",
        "src",
        ["1.7.0", "a7892899cad6ccff8061d719531bfb56fd76b7a784ac7a17be8497d5c8faff25"],
        ["1.8.0", "0ccc601a1afea3008cf262aa74f2e381818a007f50d3908a7eec6f5668faaae2"],
    ),
    pair(
        "ai",
        "src",
        ["7.0.166", "22eee048ea006aac472514e4de887aa4e6f7f2ea4ad06b80b317b1c16ddf1c92"],
        ["7.0.169", "2f21063e155cfd36462af989730ac78a530a99e54163bbb48055c86d80e23e12"],
    ),
    pair(
        "discord.js",
        "src",
        ["14.26.5", "05cba3ff74c5ac41c31cd2403864f7a42b168f3bec5ef92da95d5b1ad6e15272"],
        ["14.27.0", "f3dfe660ab52496c81d17fd1749c7b63487cfcdf97be64022011e4dd093912a7"],
    ),
    pair(
        "execa",
        "lib",
        ["10.1.1", "6ba2d61d78b04a2a9616007462fe842b086433ef1208afae26db847f01202272"],
        ["10.2.0", "4ba77af44cc5a20816f9838793787c751c50fd99d78b43304789f42424c5e517"],
    ),
    pair(
        "ethers",
        "src.ts",
        ["6.16.0", "4a24599efc4cb87cdc127acf685960120367fefa94e80ef9d144a3ec644987c6"],
        ["6.17.0", "17355f81284ba8431953c77af803b122baf4670cdbf84907adf7cafcd745052b"],
    ),
    pair(
        "leaflet",
        "src",
        ["1.9.3", "10d016716b56048661eaf9cde004dc82e80bd3613b52c4f53cf5aec73088006c"],
        ["1.9.4", "84c65a256e50657896f54c33bd857b6849ebe94c817803be818bf32a3dde0b77"],
    ),
    pair(
        "@tanstack/start-plugin-core",
        "src",
        ["1.171.50", "91aa2c060ea769f904b287606c2e276683ac593e459172918adedb40153d1edf"],
        ["1.171.51", "257930aa8bf731f353f6346d5002a53b679599acb77370237eeea4090da67c4b"],
    ),
    pair(
        "instantsearch.js",
        "es",
        ["4.118.0", "892f4ddd04edac8e72a9ab7458a180c2eb674c38bea9e84a231a7134636eb749"],
        ["4.118.1", "549a33982b0905006fd2086b4995c6e11351498c916ab06469765df584964a37"],
    ),
];
